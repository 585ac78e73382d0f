#include "eval/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace vase::eval {
namespace {

// Ranks from 0; equal values share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, last = 0; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (size_t i = first; i < last; ++i) ranks[order[i]] = static_cast<double>(first + last - 1) / 2;
  }
  return ranks;
}

}  // namespace

bool all_equal(std::span<const double> values) {
  return std::ranges::adjacent_find(values, std::not_equal_to{}) == values.end();
}

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

std::optional<double> pearson(std::span<const double> a, std::span<const double> b) {
  if (all_equal(a) || all_equal(b)) return std::nullopt;
  const double centre_a = mean(a), centre_b = mean(b);
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - centre_a, y = b[i] - centre_b;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return ab / std::sqrt(aa) / std::sqrt(bb);
}

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  return pearson(ranks_of(a), ranks_of(b));
}

}  // namespace vase::eval
