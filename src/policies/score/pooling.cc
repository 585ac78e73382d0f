#include "policies/score/pooling.h"

#include <algorithm>
#include <cmath>

namespace vase {
namespace {

void max7(std::span<const float> in, std::span<float> out) {
  constexpr int kReach = 3;
  const int n = static_cast<int>(in.size());
  for (int j = 0; j < n; ++j) {
    out[j] = in[j];
    if (std::isnan(in[j])) continue;
    for (int i = std::max(0, j - kReach); i <= std::min(n - 1, j + kReach); ++i) out[j] = std::fmax(out[j], in[i]);
  }
}

}  // namespace

void pool_scores(Pool pool, std::span<const float> in, kernels::Divisor divisor, std::span<float> out) {
  switch (pool) {
    case Pool::kNone:
      std::copy(in.begin(), in.end(), out.begin());
      break;
    case Pool::kAverage5:
      kernels::smooth5(in, divisor, out);
      break;
    case Pool::kMax7:
      max7(in, out);
      break;
  }
}

}  // namespace vase
