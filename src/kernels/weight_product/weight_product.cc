#include "kernels/weight_product/weight_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "kernels/weight_product/fused.h"
#include "kernels/weight_product/layout.h"

namespace vase::kernels {
namespace reference {
namespace {

template <class T>
T read(const std::byte* at, int i) {
  T value;
  std::memcpy(&value, at + size_t(i) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void write(std::byte* at, int i, T value) {
  std::memcpy(at + size_t(i) * sizeof(T), &value, sizeof(T));
}

// One column of one block.
void round_column(const float* x, const TileBlock<std::byte>& block, int column) {
  float largest = 0;
  for (int i = 0; i < kWeightBlock; ++i) {
    largest = std::isnan(x[i]) ? x[i] : std::max(largest, std::fabs(x[i]));
    if (std::isnan(largest)) break;
  }
  const bool finite = std::isfinite(largest);
  const float inverse = finite && largest > 0 ? 127 / largest : 0.0f;
  int half_sum[2] = {0, 0};
  for (int i = 0; i < kWeightBlock; ++i) {
    const int code = finite ? int(std::nearbyint(x[i] * inverse)) : 0;
    write(block.quad(i / 4), column * 4 + i % 4, int8_t(code));
    half_sum[i / 16] += code;
  }
  const float scale = finite ? largest / 127 : std::numeric_limits<float>::quiet_NaN();
  write(block.minus_sum(), column, -(half_sum[0] + half_sum[1]));
  for (int h : {0, 1}) write(block.minus_half_sum(h), column, -half_sum[h]);
  write(block.scale(), column, scale);
  write(block.scaled_sum(), column, scale * float(half_sum[0] + half_sum[1]));
}

// One row of a strip.
class PackedRow {
 public:
  PackedRow(const PackedShape& shape, const std::byte* packed, int row)
      : format_(shape.format),
        codes_(packed + size_t(row / kStripRows) * strip_bytes(shape)),
        scales_(codes_ + strip_code_bytes(shape)),
        r_(row % kStripRows) {}

  // Unsigned code of input i of block b.
  int code(int b, int i) const {
    const std::byte* block = codes_ + size_t(b) * strip_layout(format_).code_bytes;
    if (format_ == WeightFormat::kQ8_0) return byte(block, i / 4, i % 4);
    if (format_ != WeightFormat::kQ6K) return byte(block, i / 8, i % 4) >> (i / 4 % 2 * 4) & 15;
    const int first = i / 16 * 3, quad = i / 4 % 4;
    return (byte(block, first + quad / 2, i % 4) >> (quad % 2 * 4) & 15) |
           (byte(block, first + 2, i % 4) >> (2 * quad) & 3) << 4;
  }

  // What the unsigned codes stand above the signed ones; 0 for formats with a minimum.
  int zero() const {
    switch (format_) {
      case WeightFormat::kQ4_0: return 8;
      case WeightFormat::kQ8_0: return 128;
      case WeightFormat::kQ6K: return 32;
      default: return 0;
    }
  }

  bool has_min() const { return format_ == WeightFormat::kQ4_1 || format_ == WeightFormat::kQ4K; }

  // Scale of half h of block b; both are the same but for Q6_K.
  float scale(int b, int h) const {
    const std::byte* group = group_of(b);
    const float d = half(group, 0);
    if (format_ == WeightFormat::kQ4K) return d * float(read<uint8_t>(of_block(group, 2, b), r_));
    if (format_ == WeightFormat::kQ6K) return d * float(read<int8_t>(of_block(group, 1, b), h * kStripRows + r_));
    return d;
  }

  // What every weight of block b has added.
  float min(int b) const {
    const std::byte* group = group_of(b);
    if (format_ == WeightFormat::kQ4_1) return half(group, 1);
    return -half(group, 1) * float(read<uint8_t>(of_block(group, 2, b), kStripRows + r_));
  }

 private:
  int byte(const std::byte* block, int vector, int i) const { return int(block[vector * kVectorBytes + 4 * r_ + i]); }
  const std::byte* group_of(int b) const {
    const StripLayout layout = strip_layout(format_);
    return scales_ + size_t(b / layout.scale_unit) * layout.scale_bytes;
  }
  // The two rows of bytes of block b, behind `halves` rows of f16.
  const std::byte* of_block(const std::byte* group, int halves, int b) const {
    return group + (halves + b % kBlocksOfK) * 2 * kStripRows;
  }
  float half(const std::byte* group, int row) const { return from_half(read<uint16_t>(group, row * kStripRows + r_)); }

  WeightFormat format_;
  const std::byte *codes_, *scales_;
  int r_;
};

// Sum of products of codes over half h of block b.
int dot_of_half(const PackedRow& row, const TileBlock<const std::byte>& block, int column, int b, int h) {
  int sum = row.zero() * read<int32_t>(block.minus_half_sum(h), column);
  for (int i = 16 * h; i < 16 * h + 16; ++i) sum += row.code(b, i) * read<int8_t>(block.quad(i / 4), column * 4 + i % 4);
  return sum;
}

float add_block(const PackedRow& row, const TileBlock<const std::byte>& block, int column, int b, bool halves, float total) {
  const int dots[2] = {dot_of_half(row, block, column, b, 0), dot_of_half(row, block, column, b, 1)};
  const float scale = read<float>(block.scale(), column);
  if (halves) {
    for (int h : {0, 1}) total = std::fma(float(dots[h]), row.scale(b, h) * scale, total);
  } else {
    total = std::fma(float(dots[0] + dots[1]), row.scale(b, 0) * scale, total);
  }
  return row.has_min() ? std::fma(row.min(b), read<float>(block.scaled_sum(), column), total) : total;
}

}  // namespace

void round_activations(const float* x, int columns, int inputs, int first, int last, std::byte* out) {
  for (int c = 0; c < columns; ++c) {
    for (int b = first; b < last; ++b) {
      const int start = c / kTileColumns * kTileColumns;
      const auto block = tile_block(out, inputs / kWeightBlock, columns, start, b);
      round_column(x + size_t(c) * inputs + size_t(b) * kWeightBlock, block, c - start);
    }
  }
}

void weight_product(const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns, int first,
                    int last, const float* bias, float* out) {
  const int blocks = shape.inputs / kWeightBlock;
  for (int r = first * kStripRows; r < std::min(last * kStripRows, shape.rows); ++r) {
    const PackedRow row(shape, packed, r);
    for (int c = 0; c < columns; ++c) {
      const int start = c / kTileColumns * kTileColumns;
      float total = 0;
      for (int b = 0; b < blocks; ++b) {
        const auto block = tile_block(activations, blocks, columns, start, b);
        total = add_block(row, block, c - start, b, shape.format == WeightFormat::kQ6K, total);
      }
      out[size_t(c) * shape.rows + r] = bias ? total + bias[r] : total;
    }
  }
}

}  // namespace reference

size_t activation_bytes(int columns, int inputs) {
  return size_t(columns) * size_t(inputs / kWeightBlock) * kColumnBlockBytes;
}

void round_activations(Path path, const float* x, int columns, int inputs, int first, int last, std::byte* out) {
  (path == Path::kReference ? reference::round_activations : fused::round_activations)(x, columns, inputs, first, last, out);
}

void weight_product(Path path, const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns,
                    int first, int last, const float* bias, float* out) {
  (path == Path::kReference ? reference::weight_product : fused::weight_product)(shape, packed, activations, columns, first,
                                                                                 last, bias, out);
}

}  // namespace vase::kernels
