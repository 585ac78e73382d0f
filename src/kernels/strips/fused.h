// The Highway path of strips.h.
#pragma once

#include "kernels/strips/strips.h"

namespace vase::kernels::fused {

void strip_dots(const StripDots& args);
void strip_sums(const StripSums& args);
void decode_strips(const Strips& strips, int slots, float* out, size_t stride);

}  // namespace vase::kernels::fused
