// How alike keys are (docs/policies.md 3.8). With directions k^_j = k_j / (|k_j| + 1e-8), S_ij = k^_i . k^_j: the mean
// of S over all i takes no matrix, as sum_i S_ij = k^_j . sum_i k^_i.
//
// All spans have one element per row; rows may be indexed through rows.slots. f32 accumulation. SIMD with a plain
// reference, in double, beside it. Allocates nothing.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/path.h"
#include "vase/rows.h"

namespace vase::kernels {

// inverse[j] = 1 / (|k_j| + 1e-8).
void inverse_norms(Path path, const RowsView& keys, std::span<float> inverse);

// sum = sum_j inverse[j] k_j. sum, partial (scratch): [padded_row(keys.width)]; the tail of sum is 0.
void direction_sum(Path path, const RowsView& keys, std::span<const float> inverse, std::span<float> partial,
                   std::span<float> sum);

// For each row i: finds the newest other row j with S_ij > threshold and adds S_ij to duplicate[j]; no such row, nothing
// is added. order: the rows by age, oldest first. duplicate is not cleared. Scans from the newest row down and stops at
// the first hit, so it is quadratic only where nothing is alike.
void newest_similar(Path path, const RowsView& keys, std::span<const uint32_t> order, std::span<const float> inverse,
                    float threshold, std::span<double> duplicate);

}  // namespace vase::kernels
