// The Highway path of similarity.h.
#pragma once

#include <cstdint>
#include <span>

#include "vase/rows.h"

namespace vase::kernels::fused {

void direction_sum(const RowsView& keys, std::span<const float> inverse, std::span<float> partial,
                   std::span<float> sum);
void newest_similar(const RowsView& keys, std::span<const uint32_t> order, std::span<const float> inverse,
                    float threshold, std::span<double> duplicate);

}  // namespace vase::kernels::fused
