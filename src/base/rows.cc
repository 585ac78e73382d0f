#include "vase/rows.h"

#include <cstring>

#include "base/half.h"
#include "vase/error.h"

namespace vase {
namespace {

template <class Decode>
void read_halves(const std::byte* row, int width, float* out, Decode decode) {
  for (int c = 0; c < width; ++c) {
    uint16_t h;
    std::memcpy(&h, row + 2 * c, 2);
    out[c] = decode(h);
  }
}

}  // namespace

std::string_view row_type_name(RowType type) {
  switch (type) {
    case RowType::kF32: return "f32";
    case RowType::kF16: return "f16";
    case RowType::kBF16: return "bf16";
    case RowType::kQ8_0: return "q8_0";
    case RowType::kQ4_0: return "q4_0";
  }
  return "unknown";
}

std::string row_types_name(RowType key, RowType value) {
  const std::string name(row_type_name(key));
  return key == value ? name : name + "," + std::string(row_type_name(value));
}

void read_row(const RowsView& view, size_t i, float* out) {
  if (!view.base)
    throw Error(ErrorCode::kUsage, "a scorer reads rows that are stored quantised and that it has not asked for; let its needs() "
                                   "say rows or row_blocks");
  const auto* row = static_cast<const std::byte*>(view.row(i));
  switch (view.type) {
    case RowType::kF32:
      std::memcpy(out, row, sizeof(float) * view.width);
      return;
    case RowType::kF16:
      return read_halves(row, view.width, out, from_half);
    case RowType::kBF16:
      return read_halves(row, view.width, out, from_bfloat);
    case RowType::kQ8_0:
    case RowType::kQ4_0:
      return;  // in strips alone
  }
}

}  // namespace vase
