// How sure a result is. One value per problem: its right answers as a share of its samples, or the difference of two
// such shares (a policy's minus that of the full cache). Problems are what varies, so they are what is resampled and
// counted. pass@1 is their mean; that and its standard error: eval/statistics.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace vase::eval {

struct Interval {
  double low, high;
};

// 95 % interval of the mean difference: percentile bootstrap over problems. Empty where all differences are equal, as
// that of one problem is: drawn again they say nothing of other problems. The same seed gives the same interval. Throws
// Error(kUsage) unless draws >= 1.
std::optional<Interval> bootstrap_interval(std::span<const double> paired_differences, int draws, uint64_t seed);

// Exact two-sided p-value that a problem is as likely to get better as to get worse; differences of zero are left out.
// 1 when none is left.
double sign_test(std::span<const double> paired_differences);

// 95 % interval of a share: Wilson's score, without continuity correction. {0, 1} when total is 0.
// Throws Error(kUsage) unless 0 <= right <= total.
Interval wilson_interval(int64_t right, int64_t total);

}  // namespace vase::eval
