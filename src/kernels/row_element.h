// One element of a stored row, for the plain references.
#pragma once

#include <cstring>

#include "base/half.h"
#include "vase/rows.h"

namespace vase::kernels {

inline float row_element(const RowsView& rows, size_t i, int channel) {
  const auto* at = static_cast<const std::byte*>(rows.row(i)) + channel * row_element_bytes(rows.type);
  if (rows.type == RowType::kF32) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return x;
  }
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return from_half(half);
}

}  // namespace vase::kernels
