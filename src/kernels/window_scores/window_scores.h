// Window attention from stored queries (docs/policies.md 3.1), for checking the mass that decode accumulates and for
// applying a policy to tensors from a file: sum over the W * G rows of softmax over the candidates.
#pragma once

#include <span>

#include "vase/rows.h"

namespace vase::kernels {

// queries: [rows][head_dim] f32, dense. keys: C candidate rows. sum[C] receives (is overwritten with) the summed
// probabilities at `temperature`. Accumulates in double.
void window_scores(std::span<const float> queries, int rows, const RowsView& keys, float scale, float temperature,
                   std::span<float> sum);

}  // namespace vase::kernels
