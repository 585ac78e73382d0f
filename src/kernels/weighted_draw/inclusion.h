// How likely a weighted draw without replacement is to take a candidate (docs/policies.md 3.5, 4.17). Of N candidates
// with weights w, S are drawn: pi_j = 1 - exp(-w_j t), with t such that the pi add up to S.
#pragma once

#include <cstdint>
#include <span>

namespace vase::kernels {

// ln t, for 1 <= count < number of candidates in `pool` with a positive, finite weight; others count as weight 0.
// weights: per candidate. Relative accuracy of sum pi about 1e-6. O(pool) per step of Newton's method inside a bracket,
// some ten steps. Allocates nothing.
double log_inclusion_time(std::span<const float> weights, std::span<const uint32_t> pool, int count);

// pi of one weight.
double inclusion(float weight, double log_time);

}  // namespace vase::kernels
