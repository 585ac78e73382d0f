// What TriAttention knows of a model's queries (docs/policies.md 4.7), measured once over some texts and kept in a
// file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vase/policy.h"

namespace vase {

// Means over many queries before rotation, per query head.
struct TriStats {
  ModelHeads heads;
  int pairs = 0;           // channel pairs that the model rotates, 2 * pairs <= head_dim
  bool adjacent = false;   // pair f is (2f, 2f + 1) instead of (f, f + pairs)
  std::vector<float> mean;        // [layer][query head][head_dim] E[q], channels as in the model
  std::vector<float> magnitude;   // [layer][query head][pairs] E|q_f|, q_f the pair as a complex number

  int query_heads() const { return heads.kv_heads * heads.group; }
  std::span<const float> mean_of(int layer, int query_head) const;
  std::span<const float> magnitude_of(int layer, int query_head) const;
};

// File: "vasetri1", six int32 (layers, KV heads, group, head_dim, pairs, adjacent), then both arrays as f32, all little
// endian. read throws Error(kNotFound) when the file cannot be opened and Error(kCorrupt) when it is not of this form,
// has another size than its numbers say, or holds what no queries can give. write throws Error(kResource).
TriStats read_tri_stats(const std::string& path);
void write_tri_stats(const TriStats& stats, const std::string& path);

// Collects the means. A row is one query of a head before rotation.
class TriAccumulator {
 public:
  TriAccumulator(const ModelHeads& heads, int pairs, bool adjacent);
  // row: [head_dim]; query_head = kv_head * group + head in the group.
  void add(int layer, int query_head, std::span<const float> row);
  // Throws Error(kUsage) when a head has had no query.
  TriStats stats() const;

 private:
  TriStats shape_;
  std::vector<double> mean_, magnitude_;  // sums, as in TriStats
  std::vector<long> rows_;                // [layer][query head]
};

}  // namespace vase
