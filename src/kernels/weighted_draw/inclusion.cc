#include "kernels/weighted_draw/inclusion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/weighted_draw/fused.h"

namespace vase::kernels {
namespace {

constexpr int kMaxSteps = 200;
constexpr double kAccuracy = 1e-7;  // of sum pi, relative to the count

}  // namespace

double log_inclusion_time(std::span<const float> weights, int count) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double smallest = *std::min_element(weights.begin(), weights.end());
  // pi_j <= w_j t bounds t from below; were all weights the smallest, t would be its upper bound.
  double low = std::log(count / sum);
  double high = std::log(-std::log1p(-count / static_cast<double>(weights.size())) / smallest);
  double log_time = low;
  for (int step = 0; step < kMaxSteps; ++step) {
    const fused::TotalInclusion total = fused::total_inclusion(weights.data(), weights.size(), std::exp(log_time));
    if (std::abs(total.value - count) <= kAccuracy * count) break;
    (total.value < count ? low : high) = log_time;
    const double newton = log_time + (count - total.value) / total.slope;
    log_time = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return log_time;
}

void inclusion_costs(double log_time, std::span<float> weights) {
  fused::inclusion_costs(weights.data(), weights.size(), std::exp(log_time));
}

}  // namespace vase::kernels
