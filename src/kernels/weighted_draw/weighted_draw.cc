#include "kernels/weighted_draw/weighted_draw.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  const auto before = [&](uint32_t a, uint32_t b) {
    if (keys[a] != keys[b]) return keys[a] < keys[b];
    return ties[a] != ties[b] ? ties[a] < ties[b] : a < b;
  };
  const auto cut = pool.begin() + std::clamp<ptrdiff_t>(count, 0, std::ssize(pool));
  if (cut != pool.end()) std::nth_element(pool.begin(), cut, pool.end(), before);
  if (ordered) std::sort(pool.begin(), cut, before);
  return static_cast<int>(std::count_if(pool.begin(), cut, [&](uint32_t c) { return !(weights[c] > 0); }));
}

}  // namespace vase::kernels
