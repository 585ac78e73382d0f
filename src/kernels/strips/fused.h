// The Highway path of strips.h.
#pragma once

#include "kernels/strips/strips.h"

namespace vase::kernels::fused {

void strip_dots(const StripDots& args);
void strip_sums(const StripSums& args);

}  // namespace vase::kernels::fused
