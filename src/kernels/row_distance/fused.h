// The Highway path of row_distance.h.
#pragma once

#include <span>

#include "vase/rows.h"

namespace vase::kernels::fused {

void weighted_row_sum(const RowsView& rows, std::span<const float> weights, std::span<float> sum);
void row_distance(const RowsView& rows, std::span<const float> point, std::span<float> distance);

}  // namespace vase::kernels::fused
