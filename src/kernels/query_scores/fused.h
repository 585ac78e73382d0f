// The Highway path of query_scores.h.
#pragma once

#include <span>

#include "vase/rows.h"

namespace vase::kernels::fused {

void row_dots(std::span<const float> vectors, int count, const RowsView& rows, int n, float* out, size_t stride);
void pair_magnitudes(const RowsView& rows, int n, int pairs, bool adjacent, float* out);
void add_softmax(std::span<float> logits, std::span<float> sum);

}  // namespace vase::kernels::fused
