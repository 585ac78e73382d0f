#include "eval/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vase::eval {

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_error(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values), n = static_cast<double>(values.size());
  double squares = 0;
  for (double v : values) squares += (v - centre) * (v - centre);
  return std::sqrt(squares / (n - 1) / n);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(at), above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace vase::eval
