// Labels beside a figure that must not cover each other.
#pragma once

#include <vector>

namespace vase::eval::report {

// Places as near as can be to the wanted ones (least sum of squares), at least `gap` apart, all within low ..
// high, and in the order of the wanted ones. When they do not fit, they stand evenly over the whole of low ..
// high.
std::vector<double> spread_apart(const std::vector<double>& wanted, double gap, double low, double high);

}  // namespace vase::eval::report
