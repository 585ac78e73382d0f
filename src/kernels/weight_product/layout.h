// Where things lie in packed weights and in rounded columns. A strip is its codes, then its scales.
//
// Codes: of the 16 rows r, in vectors of 64 bytes; byte 4 r + i belongs to row r. A quad is four neighbouring inputs.
//   4 bits   vector j of a block (of 4): low nibble = input 4 (2j) + i, high nibble = input 4 (2j + 1) + i
//   6 bits   per 16 inputs 3 vectors: low nibbles of quads 0 and 1, of quads 2 and 3, then the upper bits: bits 2q, 2q + 1
//            belong to quad q
//   8 bits   vector j of a block (of 8): input 4 j + i, plus 128
// Scales, every item for the 16 rows:
//   Q4_0, Q8_0   per block   f16 d
//   Q4_1         per block   f16 d, f16 m
//   Q4_K         per 8 blocks   f16 d, f16 dmin, then per block u8 scale, u8 min
//   Q6_K         per 8 blocks   f16 d, then per 16 inputs i8 scale
//
// Rounded columns come in tiles of up to 8. Of W columns in a tile, per block: i8 codes [quad 8][column W][4], i32 minus the
// sum of the codes [W], the same of each half [2][W], f32 scale [W], f32 scale times the sum of the codes [W].
#pragma once

#include <cstddef>

#include "kernels/weight_product/weight_product.h"

namespace vase::kernels {

inline constexpr int kQuads = kWeightBlock / 4;
inline constexpr int kVectorBytes = 4 * kStripRows;
inline constexpr int kBlocksOfK = 8;
inline constexpr size_t kColumnBlockBytes = kWeightBlock + 5 * sizeof(float);

struct StripLayout {
  int code_bytes = 0;   // per block
  int scale_unit = 1;   // blocks that share a group of scales
  int scale_bytes = 0;  // per group of scales
};

constexpr StripLayout strip_layout(WeightFormat format) {
  switch (format) {
    case WeightFormat::kQ4_0: return {4 * kVectorBytes, 1, 2 * kStripRows};
    case WeightFormat::kQ4_1: return {4 * kVectorBytes, 1, 4 * kStripRows};
    case WeightFormat::kQ8_0: return {8 * kVectorBytes, 1, 2 * kStripRows};
    case WeightFormat::kQ4K: return {4 * kVectorBytes, kBlocksOfK, 4 * kStripRows + kBlocksOfK * 2 * kStripRows};
    case WeightFormat::kQ6K: return {6 * kVectorBytes, kBlocksOfK, 2 * kStripRows + kBlocksOfK * 2 * kStripRows};
  }
  return {};
}

constexpr size_t strip_code_bytes(const PackedShape& shape) {
  return size_t(shape.inputs / kWeightBlock) * strip_layout(shape.format).code_bytes;
}

// A multiple of 64, so that every strip's codes start at a cache line.
constexpr size_t strip_bytes(const PackedShape& shape) {
  const StripLayout layout = strip_layout(shape.format);
  const size_t scales = size_t(shape.inputs / (kWeightBlock * layout.scale_unit)) * layout.scale_bytes;
  return (strip_code_bytes(shape) + scales + 63) / 64 * 64;
}

// One block of a tile of rounded columns; B is std::byte or const std::byte.
template <class B>
struct TileBlock {
  B* at = nullptr;
  int columns = 0;  // of the tile

  B* quad(int j) const { return at + size_t(j) * columns * 4; }
  B* minus_sum() const { return quad(kQuads); }
  B* minus_half_sum(int half) const { return quad(kQuads + 1 + half); }
  B* scale() const { return quad(kQuads + 3); }
  B* scaled_sum() const { return quad(kQuads + 4); }
};

// Block b of the tile that starts at column `first`, of `columns` columns in all.
template <class B>
TileBlock<B> tile_block(B* activations, int blocks, int columns, int first, int b) {
  const int width = columns - first < kTileColumns ? columns - first : kTileColumns;
  return {activations + (size_t(first) * blocks + size_t(b) * width) * kColumnBlockBytes, width};
}

}  // namespace vase::kernels
