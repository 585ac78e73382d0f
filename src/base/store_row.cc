#include "base/store_row.h"

#include <cstring>

#include "base/half.h"

namespace vase {
namespace {

template <class Encode>
void store_halves(const float* in, int width, std::byte* out, Encode encode) {
  for (int c = 0; c < width; ++c) {
    const uint16_t h = encode(in[c]);
    std::memcpy(out + 2 * c, &h, 2);
  }
  std::memset(out + 2 * width, 0, 2 * size_t(padded_row(width) - width));
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
    case RowType::kQ4_0:
      return;  // in strips alone
  }
}

}  // namespace vase
