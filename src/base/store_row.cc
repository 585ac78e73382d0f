#include "base/store_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"

namespace vase {
namespace {

constexpr int kBlock = row_block(RowType::kQ8_0);

template <class Encode>
void store_halves(const float* in, int width, std::byte* out, Encode encode) {
  for (int c = 0; c < width; ++c) {
    const uint16_t h = encode(in[c]);
    std::memcpy(out + 2 * c, &h, 2);
  }
  std::memset(out + 2 * width, 0, 2 * size_t(padded_row(width) - width));
}

// To the nearest whole number, halves away from zero; |x| < 2^31. std::round() keeps compilers from using vectors.
int rounded(float x) {
  const int whole = static_cast<int>(x);
  const float rest = x - static_cast<float>(whole);
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

// Returns the block's scale.
uint16_t store_block(const float* in, std::byte* out) {
  float largest = 0, poison = 0;
  for (int i = 0; i < kBlock; ++i) {
    largest = std::max(largest, std::fabs(in[i]));
    poison += in[i] * 0;  // NaN once a number is not finite
  }
  const float scale = largest / 127 + poison;
  // A scale whose inverse overflows is 0 in half precision, and so are the numbers.
  const float inverse = scale > 4 * std::numeric_limits<float>::min() && poison == 0 ? 1 / scale : 0;
  for (int i = 0; i < kBlock; ++i) {
    const float number = poison == 0 ? in[i] * inverse : 0;
    out[i] = static_cast<std::byte>(static_cast<int8_t>(rounded(number)));
  }
  return to_half(scale);
}

void store_blocks(const float* in, int width, std::byte* out) {
  for (int block = 0; block < width / kBlock; ++block) {
    const uint16_t scale = store_block(in + block * kBlock, out + block * kBlock);
    std::memcpy(out + scale_offset(width, block * kBlock), &scale, 2);
  }
}

}  // namespace

void store_row(RowType type, const float* in, int width, void* out) {
  auto* const bytes = static_cast<std::byte*>(out);
  switch (type) {
    case RowType::kF32:
      std::memcpy(bytes, in, sizeof(float) * width);
      std::memset(bytes + sizeof(float) * width, 0, sizeof(float) * (padded_row(width) - width));
      return;
    case RowType::kF16:
      return store_halves(in, width, bytes, to_half);
    case RowType::kBF16:
      return store_halves(in, width, bytes, to_bfloat);
    case RowType::kQ8_0:
      return store_blocks(in, width, bytes);
    case RowType::kQ4_0:
      return;  // in strips alone
  }
}

}  // namespace vase
