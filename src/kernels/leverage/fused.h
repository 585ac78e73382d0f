// The Highway path of leverage.h.
#pragma once

#include <span>

#include "vase/rows.h"

namespace vase::kernels::fused {

void sketched_energy(const RowsView& rows, std::span<const float> gaussian, int columns,
                     std::span<float> energy);
void row_energy(const RowsView& rows, std::span<float> energy);

}  // namespace vase::kernels::fused
