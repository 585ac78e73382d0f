// One element of a stored row, for the plain references.
#pragma once

#include <cstring>

#include "base/half.h"
#include "vase/rows.h"

namespace vase::kernels {

inline float row_element(const RowsView& rows, size_t i, int channel) {
  const auto* row = static_cast<const std::byte*>(rows.row(i));
  const auto half_at = [row](size_t byte) {
    uint16_t half;
    std::memcpy(&half, row + byte, sizeof half);
    return half;
  };
  switch (rows.type) {
    case RowType::kF32:
    case RowType::kQ8_0:
    case RowType::kQ4_0:  // both in strips alone
      break;
    case RowType::kF16:
      return from_half(half_at(2 * channel));
    case RowType::kBF16:
      return from_bfloat(half_at(2 * channel));
  }
  float x;
  std::memcpy(&x, row + 4 * channel, sizeof x);
  return x;
}

}  // namespace vase::kernels
