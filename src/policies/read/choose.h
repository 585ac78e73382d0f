// Which blocks a token reads, by their scores (docs/policies.md 4.16).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vase/reader.h"

namespace vase {

// Memory for one call.
struct ChoiceScratch {
  explicit ChoiceScratch(int blocks);
  static size_t bytes_for(int blocks) { return size_t(blocks) * (4 + 4 + 1); }
  size_t bytes() const { return bytes_for(static_cast<int>(marks.size())); }

  std::vector<int32_t> numbers;  // [blocks] 0, 1, 2, ...
  std::vector<uint32_t> pool;    // [blocks]
  std::vector<uint8_t> marks;    // [blocks]
};

// marks[b] = 1 for every block that is read, else 0; valid until the next call. The last block is always read. A NaN
// ranks below every number, equal scores go to the earlier block. scores: at least one.
std::span<const uint8_t> choose_blocks(const ReadChoice& choice, std::span<const float> scores, ChoiceScratch& scratch);

}  // namespace vase
