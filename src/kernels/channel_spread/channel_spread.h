// How unevenly a row fills the range that other rows span, channel by channel (LagKV; docs/policies.md 4.11). f32 on the
// fused path, double on the reference.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/path.h"
#include "vase/rows.h"

namespace vase::kernels {

// Over the rows `which`: low[c] = minimum of channel c, scale[c] = 1 / (maximum - minimum), or 0 where they are equal.
// low, scale: [padded_row(rows.width)], zero behind the channels.
void channel_scaling(Path path, const RowsView& rows, std::span<const uint32_t> which, std::span<float> low,
                     std::span<float> scale);

// spread[i] = standard deviation over the channels c (divisor width - 1) of (x_c - low[c]) scale[c], x being the row
// which[i]. 0 for rows of one channel.
void channel_spread(Path path, const RowsView& rows, std::span<const uint32_t> which, std::span<const float> low,
                    std::span<const float> scale, std::span<float> spread);

}  // namespace vase::kernels
