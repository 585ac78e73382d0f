// Heads for measuring evictions on: a group of 4 query heads, head_dim 128, f16 rows, 4096 candidates and 64
// tokens of buffer, of which an eviction keeps 4032. Rows and queries are standard normal, from a fixed seed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/huge_buffer.h"
#include "vase/policy.h"

namespace vase::bench {

// What the views of all heads show. Rows differ from head to head, all else is shared.
class EvictionHeads {
 public:
  static constexpr int kHeadDim = 128, kGroup = 4;
  static constexpr int kCandidates = 4096, kBuffer = 64, kSlots = kCandidates + kBuffer;
  static constexpr int kKept = kCandidates - kBuffer;

  explicit EvictionHeads(int kv_heads);
  HeadView view(const PolicyNeeds& needs, int kv_head) const;

 private:
  RowsView rows(int index) const;

  HugeBuffer rows_;
  std::vector<float> queries_, frequencies_, attention_, range_, products_, weights_;
  std::vector<int32_t> positions_, uses_, gaps_;
  std::vector<uint32_t> slots_;
};

}  // namespace vase::bench
