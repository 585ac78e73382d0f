// The Highway path of inclusion.h.
#pragma once

#include <cstddef>

namespace vase::kernels::fused {

// Sum of pi and its derivative by ln t.
struct TotalInclusion {
  double value = 0, slope = 0;
};

TotalInclusion total_inclusion(const float* weights, size_t count, double time);
void inclusion_costs(float* weights, size_t count, double time);

}  // namespace vase::kernels::fused
