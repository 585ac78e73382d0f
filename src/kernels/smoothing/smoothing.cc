#include "kernels/smoothing/smoothing.h"

#include <algorithm>

namespace vase::kernels {

void smooth5(std::span<const float> in, Divisor divisor, std::span<float> out) {
  constexpr int kReach = 2;
  const int n = static_cast<int>(in.size());
  for (int j = 0; j < n; ++j) {
    const int from = std::max(0, j - kReach);
    const int to = std::min(n - 1, j + kReach);
    double sum = 0;
    for (int i = from; i <= to; ++i) sum += in[i];
    out[j] = static_cast<float>(sum / (divisor == Divisor::kFixed ? 2 * kReach + 1 : to - from + 1));
  }
}

}  // namespace vase::kernels
