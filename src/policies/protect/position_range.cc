#include "policies/protect/position_range.h"

#include <algorithm>

namespace vase {

std::span<uint32_t> candidates_between(const HeadView& head, int first, int end, PolicyScratch& scratch) {
  size_t found = 0;
  for (int c = 0; c < head.candidates(); ++c) {
    if (head.positions[c] >= first && head.positions[c] < end) scratch.pool[found++] = c;
  }
  const auto range = std::span(scratch.pool).first(found);
  const auto earlier = [&](uint32_t a, uint32_t b) { return head.positions[a] < head.positions[b]; };
  if (!std::is_sorted(range.begin(), range.end(), earlier)) std::sort(range.begin(), range.end(), earlier);
  return range;
}

}  // namespace vase
