// What a cache makes of a row, for plain accounts of what it holds.
#pragma once

#include <cstddef>
#include <vector>

#include "base/store_row.h"
#include "cache/row_store.h"
#include "kernels/strips/strips.h"

namespace vase::test {

// A row as it is read back from strips of a quantised type.
inline std::vector<float> quantised(kernels::StripKind kind, RowType type, const std::vector<float>& row) {
  const auto bits = type == RowType::kQ8_0 ? kernels::CodeBits::k8 : kernels::CodeBits::k4;
  const auto width = static_cast<int>(row.size());
  std::vector<std::byte> bytes(kernels::strip_bytes(bits, width));
  const kernels::Strips one{bytes.data(), kind, bits, width};
  kernels::store_in_strips(one, 0, row.data());
  std::vector<float> out(row.size());
  kernels::read_from_strips(one, 0, out.data());
  return out;
}

// A row as it is read back from the recent part of a cache of this type, or from the older one, to which it came from
// there.
inline std::vector<float> stored(kernels::StripKind kind, RowType type, bool older, const std::vector<float>& row) {
  const auto width = static_cast<int>(row.size());
  const RowType first = recent_type(type);
  std::vector<std::byte> bytes(row_bytes(first, width));
  store_row(first, row.data(), width, bytes.data());
  std::vector<float> out(row.size());
  read_row({.base = bytes.data(), .stride = bytes.size(), .type = first, .width = width}, 0, out.data());
  return older && is_quantised(type) ? quantised(kind, type, out) : out;
}

}  // namespace vase::test
