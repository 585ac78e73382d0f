// Gate weights of SeerAttention-R, and the file that holds them (docs/policies.md 4.16). Little-endian:
//   8 bytes   "VASESEER"
//   7 u32     version 1, layers, KV heads, query heads per KV head, head_dim, block (tokens), width
//   1 f32     rope_base, of the gates' own rotation
//   f32       for each layer and KV head: key weights [width][3 head_dim], then query weights [width][group head_dim]
// scripts/distil_gates.py writes such files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vase/policy.h"

namespace vase {

struct SeerGates {
  ModelHeads heads;     // of the model that they belong to
  int block = 0;        // tokens per block in training
  int width = 0;        // channels of a gate's keys and queries, even
  float rope_base = 0;
  std::vector<float> frequencies;  // [width / 2] rope_base^(-2 f / width): the gates' own rotation, in halves
  std::vector<float> weights;      // as in the file

  // Throws Error: kNotFound, or kCorrupt that says what is wrong with the file.
  static SeerGates read(const std::string& path);

  Rope rope() const { return {.frequencies = frequencies}; }
  std::span<const float> key_weights(int layer, int kv_head) const;    // [width][3 head_dim]: max, min, mean
  std::span<const float> query_weights(int layer, int kv_head) const;  // [width][group head_dim]

 private:
  size_t per_head() const { return size_t(width) * heads.head_dim * (3 + heads.group); }
};

}  // namespace vase
