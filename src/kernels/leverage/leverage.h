// Sketched row energies of the CUR family (docs/policies.md 3.9): || row_i^T G ||^2, G a row-major matrix with a row per
// channel. f32 accumulation. SIMD with a plain reference beside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/path.h"
#include "vase/rows.h"

namespace vase::kernels {

// Floats behind G that must be readable, of any content, so that a vector of columns may hang over its end.
inline constexpr int kSketchTail = 32;

// Columns that one call takes.
inline constexpr int kMaxSketch = 64;

// Several sketches in one pass over the rows: energy[g * stride + i] = the squared length of row i's products with columns
// [g * columns, (g + 1) * columns) of G [head_dim][groups * columns], for i < count. Rows may be indexed through rows.slots.
//   gaussian  head_dim * groups * columns floats and kSketchTail more
//   groups    1 .. sketches_at_once(columns)
//   columns   0 .. kMaxSketch
void sketched_energies(Path path, const RowsView& rows, std::span<const float> gaussian, int groups, int columns,
                       float* energy, size_t count, size_t stride);

// How many sketches of so many columns go well together: 32 columns, so that their part of G stays in L1.
constexpr int sketches_at_once(int columns) { return std::max(1, 32 / std::max(4, (columns + 3) / 4 * 4)); }

// One sketch of energy.size() rows.
void sketched_energy(Path path, const RowsView& rows, std::span<const float> gaussian, int columns,
                     std::span<float> energy);

// || row_i ||^2, the limit columns -> infinity.
void row_energy(const RowsView& rows, std::span<float> energy);

}  // namespace vase::kernels
