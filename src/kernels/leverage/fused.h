// The Highway path of leverage.h.
#pragma once

#include <cstddef>
#include <span>

#include "vase/rows.h"

namespace vase::kernels::fused {

void sketched_energies(const RowsView& rows, std::span<const float> gaussian, int groups, int columns, float* energy,
                       size_t count, size_t stride);
void row_energy(const RowsView& rows, std::span<float> energy);

}  // namespace vase::kernels::fused
