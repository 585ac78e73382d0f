// Sketched row energies of the CUR family (docs/policies.md 3.9): energy[i] = || row_i^T G ||^2, G is
// [head_dim][columns] row-major, columns contiguous. f32 accumulation. SIMD with a plain reference beside it.
#pragma once

#include <span>

#include "kernels/slot_attention/slot_attention.h"
#include "vase/rows.h"

namespace vase::kernels {

// Floats behind G that must be readable, of any content, so that a vector of columns may hang over its end.
inline constexpr int kSketchTail = 32;

// gaussian: head_dim * columns floats and kSketchTail more. energy has one element per candidate; rows may be indexed through rows.slots. columns in 1 .. 64.
void sketched_energy(Path path, const RowsView& rows, std::span<const float> gaussian, int columns,
                     std::span<float> energy);

// || row_i ||^2, the limit columns -> infinity.
void row_energy(const RowsView& rows, std::span<float> energy);

}  // namespace vase::kernels
