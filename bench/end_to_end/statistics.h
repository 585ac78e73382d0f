// The few statistics that a benchmark reports.
#pragma once

#include <span>
#include <vector>

namespace vase::bench {

// All give 0 for no values.
// share: 0 to 1. Between two values the result lies on the line between them, as NumPy's default has it.
double percentile(std::vector<double> values, double share);
inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }
double mean(std::span<const double> values);

}  // namespace vase::bench
