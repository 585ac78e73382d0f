// Small statistics of lists of numbers.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace vase::eval {

bool all_equal(std::span<const double> values);  // so are fewer than two
double mean(std::span<const double> values);  // 0 for an empty list
// Standard error of the mean: standard deviation (n - 1) / sqrt n; 0 for fewer than two values.
double standard_error(std::span<const double> values);
// What a mean of n values may be off by, in standard errors: Student's t distribution with n - 1 degrees of freedom (1 or
// more) lies within -t .. t with 95 %. 12.7 for two values, 1.96 for many. The time grows with the degrees.
double t_quantile(int degrees);
// Quantile q in 0 .. 1, linear between neighbours (NumPy's default); 0 for an empty list.
double quantile(std::vector<double> values, double q);
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }
// Correlation of a and b, which are equally long and finite, and of their ranks (equal values share the mean of their
// ranks). Empty when either list is constant or shorter than two.
std::optional<double> pearson(std::span<const double> a, std::span<const double> b);
std::optional<double> spearman(std::span<const double> a, std::span<const double> b);

}  // namespace vase::eval
