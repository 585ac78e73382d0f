// Scores that are computed at the eviction from vectors of the policy's own (docs/policies.md 3.10): dot products of a
// few vectors with many stored rows, and softmax along them. f32 accumulation on the fused path, double on the reference.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/path.h"
#include "vase/rows.h"

namespace vase::kernels {

// Rows of results are written in whole vectors: a row of n needs room for results_row(n).
constexpr size_t results_row(size_t n) { return (n + 15) / 16 * 16; }

// Rows first, first + 1, ... of a view.
RowsView rows_from(const RowsView& rows, size_t first);

// out[v * stride + i] = vectors[v] . row i, for v < count and i < n.
//   vectors  [count][padded_row(width)], tails zero
//   out      rows of `stride` >= results_row(n) floats; those behind n are undefined
void row_dots(Path path, std::span<const float> vectors, int count, const RowsView& rows, int n, float* out,
              size_t stride);

// out[i][f] = sqrt(a^2 + b^2) of channel pair f of row i, for i < n and f < pairs; out is [n][padded_row(pairs)], tails
// zero. Pair f is (f, f + pairs), or (2f, 2f + 1) when `adjacent`. 2 * pairs <= width.
void pair_magnitudes(Path path, const RowsView& rows, int n, int pairs, bool adjacent, float* out);

// sum[j] += exp(logits[j] - max) / total for j < sum.size(), normalised over all logits. Logits that are NaN or +inf
// count for nothing in the others' shares, and make their own sum NaN; without any finite logit the shares are 0.
// logits.size() >= sum.size(), with room for results_row(); their values are lost.
void add_softmax(Path path, std::span<float> logits, std::span<float> sum);

}  // namespace vase::kernels
