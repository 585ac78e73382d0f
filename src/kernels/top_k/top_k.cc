#include "kernels/top_k/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/top_k/partition.h"

namespace vase::kernels {
namespace {

// Rises as scores fall. One key for both zeros, and the largest of all for every NaN. No branch on the sign, which nobody
// could guess.
uint32_t falling_key(float score) {
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);
  const uint32_t key = bits ^ (((bits >> 31) - 1) & 0x7fffffffu);  // positive scores: all but the sign turned round
  return std::isnan(score) ? UINT32_MAX : key;
}

}  // namespace

void top_k(std::span<const float> scores, std::span<const int32_t> ties, std::span<uint32_t> pool, int k,
           bool sorted) {
  const auto key = [&](uint32_t c) -> uint64_t { return falling_key(scores[c]); };
  const auto tie = [&](uint32_t c) { return tie_key(ties[c], c); };
  const size_t count = std::clamp<ptrdiff_t>(k, 0, std::ssize(pool));
  partition_smallest(pool, count, key, tie);
  if (sorted) std::sort(pool.begin(), pool.begin() + count, KeyOrder{key, tie});
}

}  // namespace vase::kernels
