#include "policies/read/choose.h"

#include <algorithm>
#include <numeric>

#include "kernels/top_k/top_k.h"

namespace vase {

ChoiceScratch::ChoiceScratch(int blocks) : numbers(blocks), pool(blocks), marks(blocks) {
  std::iota(numbers.begin(), numbers.end(), 0);
}

std::span<const uint8_t> choose_blocks(const ReadChoice& choice, std::span<const float> scores,
                                       ChoiceScratch& scratch) {
  const size_t blocks = scores.size();
  const std::span<uint8_t> marks = std::span(scratch.marks).first(blocks);
  std::ranges::fill(marks, uint8_t{0});
  marks[blocks - 1] = 1;
  if (choice.threshold) {
    for (size_t b = 0; b < blocks; ++b) marks[b] |= scores[b] > *choice.threshold;
    return marks;
  }
  const int taken = choice.last_among_them ? 1 : 0;
  const std::span<uint32_t> pool = std::span(scratch.pool).first(blocks - taken);
  std::iota(pool.begin(), pool.end(), 0u);
  const int wanted = std::clamp(choice.blocks - taken, 0, static_cast<int>(pool.size()));
  kernels::top_k(scores, scratch.numbers, pool, wanted, false);
  for (uint32_t b : pool.first(wanted)) marks[b] = 1;
  return marks;
}

}  // namespace vase
