#include "kernels/weighted_draw/inclusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vase::kernels {
namespace {

constexpr int kMaxSteps = 200;
constexpr double kAccuracy = 1e-7;  // of sum pi, relative to the count

bool counts(float weight) { return weight > 0 && std::isfinite(weight); }

// sum pi and its derivative by ln t.
struct Total {
  double value = 0, slope = 0;
};

Total total_inclusion(std::span<const float> weights, std::span<const uint32_t> pool, double log_time) {
  const double time = std::exp(log_time);
  Total total;
  for (uint32_t c : pool) {
    if (!counts(weights[c])) continue;
    const double x = weights[c] * time;
    const float missed = std::exp(static_cast<float>(-x));
    total.value += x < 1e-3 ? x - x * x / 2 : 1.0 - missed;  // without cancellation
    total.slope += x < 1e30 ? x * missed : 0;
  }
  return total;
}

}  // namespace

double inclusion(float weight, double log_time) { return -std::expm1(-weight * std::exp(log_time)); }

double log_inclusion_time(std::span<const float> weights, std::span<const uint32_t> pool, int count) {
  double sum = 0, smallest = std::numeric_limits<double>::infinity(), positive = 0;
  for (uint32_t c : pool) {
    if (!counts(weights[c])) continue;
    sum += weights[c];
    smallest = std::min<double>(smallest, weights[c]);
    ++positive;
  }
  // pi_j <= w_j t bounds t from below; were all weights the smallest, t would be its upper bound.
  double low = std::log(count / sum);
  double high = std::log(-std::log1p(-count / positive) / smallest);
  double log_time = low;
  for (int step = 0; step < kMaxSteps; ++step) {
    const Total total = total_inclusion(weights, pool, log_time);
    if (std::abs(total.value - count) <= kAccuracy * count) break;
    (total.value < count ? low : high) = log_time;
    const double newton = log_time + (count - total.value) / total.slope;
    log_time = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return log_time;
}

}  // namespace vase::kernels
