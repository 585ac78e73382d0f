// The Highway path of channel_spread.h.
#pragma once

#include <cstdint>
#include <span>

#include "vase/rows.h"

namespace vase::kernels::fused {

void channel_scaling(const RowsView& rows, std::span<const uint32_t> which, std::span<float> low,
                     std::span<float> scale);
void channel_spread(const RowsView& rows, std::span<const uint32_t> which, std::span<const float> low,
                    std::span<const float> scale, std::span<float> spread);

}  // namespace vase::kernels::fused
