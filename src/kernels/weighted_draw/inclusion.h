// How likely a weighted draw without replacement is to take a candidate (docs/policies.md 3.5, 4.17). Of N candidates
// with weights w, S are drawn: pi_j = 1 - exp(-w_j t), with t such that the pi add up to S.
#pragma once

#include <span>

namespace vase::kernels {

// ln t for N positive, finite weights and 1 <= count < N. Relative accuracy of sum pi about 1e-7. O(N) per step of Newton's
// method inside a bracket, some ten steps. Allocates nothing.
double log_inclusion_time(std::span<const float> weights, int count);

// Replaces each weight, positive and finite, by -ln pi, rounded to a float from a value with a relative error below 1e-9 of
// pi, or of -ln pi where that is smaller. At most 700.
void inclusion_costs(double log_time, std::span<float> weights);

}  // namespace vase::kernels
