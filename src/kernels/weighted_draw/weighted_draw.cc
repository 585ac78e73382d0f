#include "kernels/weighted_draw/weighted_draw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/top_k/partition.h"

namespace vase::kernels {
namespace {

// Lifts the keys of candidates without weight above every quotient of two positive floats (< 2^278), without rounding.
const double kFillerScale = std::ldexp(1.0, 500);

double race_key(float weight, float exponential) {
  if (weight > 0) return static_cast<double>(exponential) / weight;
  return kFillerScale * std::max(exponential, std::numeric_limits<float>::min());
}

}  // namespace

int weighted_draw(std::span<const float> weights, std::span<const float> exponentials,
                  std::span<const int32_t> ties, std::span<uint32_t> pool, int count, bool ordered,
                  std::span<double> keys) {
  for (uint32_t c : pool) keys[c] = race_key(weights[c], exponentials[c]);
  const auto key = [&](uint32_t c) { return std::bit_cast<uint64_t>(keys[c]); };  // rises with the key, none being negative
  const auto tie = [&](uint32_t c) { return tie_key(ties[c], c); };
  const std::span<uint32_t> drawn = pool.first(std::clamp<ptrdiff_t>(count, 0, std::ssize(pool)));
  partition_smallest(pool, drawn.size(), key, tie);
  if (ordered) std::sort(drawn.begin(), drawn.end(), KeyOrder{key, tie});
  return static_cast<int>(std::count_if(drawn.begin(), drawn.end(), [&](uint32_t c) { return !(weights[c] > 0); }));
}

}  // namespace vase::kernels
