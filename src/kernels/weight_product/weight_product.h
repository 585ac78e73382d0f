// Products of a quantised weight matrix with a few columns (tokens): what a decode step of a batch, and a prompt, spend most
// of their time in. Weights lie in strips of 16 output rows (docs/layouts.md); columns are rounded to 8 bits in blocks of 32,
// and every block's product of integers is exact:
//
//   out[c][r] = bias[r] + sum over blocks b, ascending, of   s[r][b] * d[c][b] * sum over i of q[r][b][i] * a[c][b][i]
//                                                           (+ m[r][b] * d[c][b] * sum over i of a[c][b][i])
//
// with one fused multiply-add per term in f32. So a column's result does not depend, bit for bit, on the other columns, on
// their number, on the threads, or on the SIMD target as long as it has fused multiply-add (all but SSSE3, SSE4, EMU128).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/path.h"

namespace vase::kernels {

enum class WeightFormat : uint8_t { kQ4_0, kQ4_1, kQ8_0, kQ4K, kQ6K };

inline constexpr int kStripRows = 16;
inline constexpr int kWeightBlock = 32;
inline constexpr int kTileColumns = 8;

struct PackedShape {
  WeightFormat format = WeightFormat::kQ4_0;
  int rows = 0;    // outputs
  int inputs = 0;  // a multiple of input_unit(format)

  int strips() const { return (rows + kStripRows - 1) / kStripRows; }
};

// Inputs that share a scale of scales: 256 for the K formats, else 32.
int input_unit(WeightFormat format);

// Bytes of the packed matrix: those of the file, rounded up to whole strips; 148 instead of 144 per 256 weights for Q4_K.
size_t packed_bytes(const PackedShape& shape);

// Lays strips first .. last - 1 of the matrix out. `file` holds its rows as a GGUF file has them; `packed` is packed_bytes()
// at a multiple of 64. Rows behind the last one count as zero.
void pack_weights(const PackedShape& shape, const std::byte* file, int first, int last, std::byte* packed);

// Bytes of `columns` rounded columns.
size_t activation_bytes(int columns, int inputs);

// Rounds blocks first .. last - 1 of all columns: scale = largest magnitude / 127, nearest integer, ties to even. A block
// with a number that is not finite gives results that are not finite.
//   x    [columns][inputs]
//   out  activation_bytes(), at a multiple of 4
void round_activations(Path path, const float* x, int columns, int inputs, int first, int last, std::byte* out);

// The product for strips first .. last - 1.
//   packed       pack_weights() of all strips
//   activations  round_activations() of the same inputs
//   bias         [rows], or null
//   out          [columns][rows]
void weight_product(Path path, const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns,
                    int first, int last, const float* bias, float* out);

}  // namespace vase::kernels
