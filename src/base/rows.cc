#include "vase/rows.h"

#include <cstring>

#include "base/half.h"

namespace vase {

void read_row(const RowsView& view, size_t i, float* out) {
  const void* row = view.row(i);
  if (view.type == RowType::kF32) {
    std::memcpy(out, row, sizeof(float) * view.width);
    return;
  }
  for (int c = 0; c < view.width; ++c) {
    uint16_t h;
    std::memcpy(&h, static_cast<const std::byte*>(row) + 2 * c, 2);
    out[c] = from_half(h);
  }
}

}  // namespace vase
