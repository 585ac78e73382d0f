#include <algorithm>
#include <cstring>

#include "kernels/weight_product/layout.h"

namespace vase::kernels {
namespace {

using Byte = uint8_t;

// Of a unit: what one group of scales is for, in one row.
constexpr int kMostInputs = kBlocksOfK * kWeightBlock;

// Bytes of one unit of a row in a GGUF file.
size_t file_unit_bytes(WeightFormat format) {
  switch (format) {
    case WeightFormat::kQ4_0: return 18;
    case WeightFormat::kQ4_1: return 20;
    case WeightFormat::kQ8_0: return 34;
    case WeightFormat::kQ4K: return 144;
    case WeightFormat::kQ6K: return 210;
  }
  return 0;
}

// `count` bytes, each holding an input and the one `count` places behind it.
void split_nibbles(const Byte* file, int count, Byte* codes) {
  for (int i = 0; i < count; ++i) {
    codes[i] = file[i] & 15;
    codes[i + count] = file[i] >> 4;
  }
}

void codes_of_q6k(const Byte* file, Byte* codes) {
  const Byte *low = file, *high = file + 128;
  for (int half = 0; half < 2; ++half, low += 64, high += 32, codes += 128) {
    for (int i = 0; i < 32; ++i) {
      codes[i] = Byte((low[i] & 15) | (high[i] & 3) << 4);
      codes[i + 32] = Byte((low[i + 32] & 15) | (high[i] >> 2 & 3) << 4);
      codes[i + 64] = Byte(low[i] >> 4 | (high[i] >> 4 & 3) << 4);
      codes[i + 96] = Byte(low[i + 32] >> 4 | high[i] >> 6 << 4);
    }
  }
}

// Unsigned codes of one unit of a row.
void unit_codes(WeightFormat format, const Byte* file, Byte* codes) {
  switch (format) {
    case WeightFormat::kQ4_0: return split_nibbles(file + 2, 16, codes);
    case WeightFormat::kQ4_1: return split_nibbles(file + 4, 16, codes);
    case WeightFormat::kQ8_0:
      for (int i = 0; i < kWeightBlock; ++i) codes[i] = Byte(file[2 + i] + 128);
      return;
    case WeightFormat::kQ4K:
      for (int pair = 0; pair < 4; ++pair) split_nibbles(file + 16 + pair * 32, 32, codes + pair * 64);
      return;
    case WeightFormat::kQ6K: return codes_of_q6k(file, codes);
  }
}

// The 6-bit scale and minimum of block b out of the 12 bytes of a Q4_K unit.
void scale_and_min(const Byte* packed, int b, Byte& scale, Byte& min) {
  if (b < 4) {
    scale = packed[b] & 63;
    min = packed[b + 4] & 63;
  } else {
    scale = Byte((packed[b + 4] & 15) | packed[b - 4] >> 6 << 4);
    min = Byte(packed[b + 4] >> 4 | packed[b] >> 6 << 4);
  }
}

// Scales of one unit of row r, to their places in a strip's group of scales.
void unit_scales(WeightFormat format, const Byte* file, int r, Byte* scales) {
  constexpr int kHalfs = 2 * kStripRows;
  switch (format) {
    case WeightFormat::kQ4_0:
    case WeightFormat::kQ8_0: std::memcpy(scales + 2 * r, file, 2); return;
    case WeightFormat::kQ4_1:
      std::memcpy(scales + 2 * r, file, 2);
      std::memcpy(scales + kHalfs + 2 * r, file + 2, 2);
      return;
    case WeightFormat::kQ4K:
      std::memcpy(scales + 2 * r, file, 2);
      std::memcpy(scales + kHalfs + 2 * r, file + 2, 2);
      for (int b = 0; b < kBlocksOfK; ++b) {
        Byte* at = scales + 2 * kHalfs + b * 2 * kStripRows + r;
        scale_and_min(file + 4, b, at[0], at[kStripRows]);
      }
      return;
    case WeightFormat::kQ6K:
      std::memcpy(scales + 2 * r, file + 208, 2);
      for (int h = 0; h < 2 * kBlocksOfK; ++h) scales[kHalfs + h * kStripRows + r] = file[192 + h];
      return;
  }
}

// Codes of one block of row r, to their places in the strip.
void place_codes(WeightFormat format, const Byte* codes, int r, Byte* strip) {
  Byte* at = strip + 4 * r;
  const auto nibbles = [](const Byte* low, Byte* out) {
    for (int i = 0; i < 4; ++i) out[i] = Byte((low[i] & 15) | (low[i + 4] & 15) << 4);
  };
  if (format == WeightFormat::kQ8_0) {
    for (int j = 0; j < kQuads; ++j) std::memcpy(at + j * kVectorBytes, codes + 4 * j, 4);
  } else if (format != WeightFormat::kQ6K) {
    for (int j = 0; j < kQuads / 2; ++j) nibbles(codes + 8 * j, at + j * kVectorBytes);
  } else {
    for (int half = 0; half < 2; ++half, at += 3 * kVectorBytes, codes += 16) {
      nibbles(codes, at);
      nibbles(codes + 8, at + kVectorBytes);
      for (int i = 0; i < 4; ++i) {
        at[2 * kVectorBytes + i] =
            Byte(codes[i] >> 4 | codes[4 + i] >> 4 << 2 | codes[8 + i] >> 4 << 4 | codes[12 + i] >> 4 << 6);
      }
    }
  }
}

// Row r of a strip, out of its row in the file.
void pack_row(const PackedShape& shape, const Byte* file, int r, Byte* strip) {
  const StripLayout layout = strip_layout(shape.format);
  const int blocks = layout.scale_unit;
  Byte* scales = strip + strip_code_bytes(shape);
  Byte codes[kMostInputs];
  for (int unit = 0; unit < shape.inputs / (blocks * kWeightBlock); ++unit) {
    unit_codes(shape.format, file, codes);
    unit_scales(shape.format, file, r, scales);
    for (int b = 0; b < blocks; ++b, strip += layout.code_bytes) {
      place_codes(shape.format, codes + b * kWeightBlock, r, strip);
    }
    file += file_unit_bytes(shape.format);
    scales += layout.scale_bytes;
  }
}

}  // namespace

int input_unit(WeightFormat format) { return kWeightBlock * strip_layout(format).scale_unit; }

size_t packed_bytes(const PackedShape& shape) { return size_t(shape.strips()) * strip_bytes(shape); }

void pack_weights(const PackedShape& shape, const std::byte* file, int first, int last, std::byte* packed) {
  const size_t row_bytes = size_t(shape.inputs / input_unit(shape.format)) * file_unit_bytes(shape.format);
  for (int s = first; s < last; ++s) {
    auto* strip = reinterpret_cast<Byte*>(packed) + size_t(s) * strip_bytes(shape);
    std::memset(strip, 0, strip_bytes(shape));
    for (int r = 0; r < std::min(kStripRows, shape.rows - s * kStripRows); ++r) {
      const size_t row = size_t(s) * kStripRows + size_t(r);
      pack_row(shape, reinterpret_cast<const Byte*>(file) + row * row_bytes, r, strip);
    }
  }
}

}  // namespace vase::kernels
