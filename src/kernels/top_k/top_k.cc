#include "kernels/top_k/top_k.h"

#include <algorithm>
#include <cmath>

namespace vase::kernels {

void top_k(std::span<const float> scores, std::span<const int32_t> ties, std::span<uint32_t> pool, int k,
           bool sorted) {
  // A strict total order even with NaN (a plain > is not one, and would make nth_element's result arbitrary).
  const auto before = [&](uint32_t a, uint32_t b) {
    const bool a_nan = std::isnan(scores[a]), b_nan = std::isnan(scores[b]);
    if (a_nan != b_nan) return b_nan;
    if (!a_nan && scores[a] != scores[b]) return scores[a] > scores[b];
    return ties[a] != ties[b] ? ties[a] < ties[b] : a < b;
  };
  const auto cut = pool.begin() + std::clamp<ptrdiff_t>(k, 0, std::ssize(pool));
  if (cut != pool.end()) std::nth_element(pool.begin(), cut, pool.end(), before);
  if (sorted) std::sort(pool.begin(), cut, before);
}

}  // namespace vase::kernels
