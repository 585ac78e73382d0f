#include "eval/paired.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "eval/random.h"
#include "eval/statistics.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr double kNormal975 = 1.959963984540054;  // 97.5 % quantile of the normal distribution

double resampled_mean(std::span<const double> values, Random& random) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[random.below(values.size())];
  return sum / static_cast<double>(values.size());
}

// P(X <= most) for X of Binomial(trials, 1/2). In logarithms: 2^-trials is zero in a double from 1075 trials on.
double fair_coin_tail(int64_t most, int64_t trials) {
  const double n = static_cast<double>(trials), log_all = std::lgamma(n + 1) - n * std::log(2.0);
  double sum = 0;
  for (int64_t i = 0; i <= most; ++i) {
    const double k = static_cast<double>(i);
    sum += std::exp(log_all - std::lgamma(k + 1) - std::lgamma(n - k + 1));
  }
  return sum;
}

}  // namespace

std::optional<Interval> bootstrap_interval(std::span<const double> paired_differences, int draws, uint64_t seed) {
  if (draws < 1) {
    throw Error(ErrorCode::kUsage, "a bootstrap of " + std::to_string(draws) + " draws; allowed: 1 or more");
  }
  if (all_equal(paired_differences)) return std::nullopt;
  Random random(seed);
  std::vector<double> means(static_cast<size_t>(draws));
  for (double& value : means) value = resampled_mean(paired_differences, random);
  return Interval{quantile(means, 0.025), quantile(means, 0.975)};
}

double sign_test(std::span<const double> paired_differences) {
  const int64_t better = std::ranges::count_if(paired_differences, [](double d) { return d > 0; });
  const int64_t worse = std::ranges::count_if(paired_differences, [](double d) { return d < 0; });
  return std::min(1.0, 2 * fair_coin_tail(std::min(better, worse), better + worse));
}

Interval wilson_interval(int64_t right, int64_t total) {
  if (right < 0 || total < right) {
    throw Error(ErrorCode::kUsage, std::to_string(right) + " right of " + std::to_string(total) +
                                       "; allowed: 0 or more, at most the total");
  }
  if (total == 0) return {0, 1};
  const double n = static_cast<double>(total), share = static_cast<double>(right) / n;
  const double square = kNormal975 * kNormal975, shrink = 1 + square / n;
  const double centre = (share + square / (2 * n)) / shrink;
  const double half = kNormal975 / shrink * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace vase::eval
