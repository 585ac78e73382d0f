// Weighted sum of stored rows, and the distance of each row from a point (docs/policies.md 3.11). f32 accumulation on the
// fused path, double on the reference.
#pragma once

#include <span>

#include "kernels/path.h"
#include "vase/rows.h"

namespace vase::kernels {

// sum = sum of weights[i] * row i over i < weights.size(). sum is padded_row(width) long, its tail 0. Rows of weight 0 or
// NaN are left out, so that one broken row does not spoil the sum when the caller gives it no weight.
void weighted_row_sum(Path path, const RowsView& rows, std::span<const float> weights, std::span<float> sum);

// distance[i] = || row i - point ||_2; point is padded_row(width) long, its tail 0.
void row_distance(Path path, const RowsView& rows, std::span<const float> point, std::span<float> distance);

}  // namespace vase::kernels
