#include "eval/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
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

// How much of Student's t distribution lies within -t .. t, t = sqrt(degrees) tan(angle): the finite sums of Abramowitz and
// Stegun, 26.7.3 and 26.7.4.
double share_within(double angle, int degrees) {
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (int k = odd ? 1 : 0; k <= degrees - 2; k += 2) {
    sum += term;
    term *= cosine * cosine * (k + 1) / (k + 2);
  }
  return odd ? (angle + sine * sum) * 2 / std::numbers::pi : sine * sum;
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

double t_quantile(int degrees) {
  double low = 0, high = std::numbers::pi / 2;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (share_within(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return std::sqrt(degrees) * std::tan(low);
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
