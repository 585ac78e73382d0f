// Rows of keys or values as the cache stores them: how an element is encoded, and a strided, slot-indexed view.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vase/export.h"

namespace vase {

// Encoding of one element of a key or value row.
enum class RowType : uint8_t { kF32, kF16 };

// Bytes of one element.
constexpr size_t row_element_bytes(RowType type) { return type == RowType::kF32 ? 4 : 2; }

// Elements that a stored row takes: head_dim rounded up to a multiple of 16, the tail filled with zeros, so that
// a SIMD loop over a row needs no remainder. Equal to head_dim for every common size (64, 80, 96, 112, 128, 256).
constexpr int padded_row(int head_dim) { return (head_dim + 15) / 16 * 16; }

// Read-only view of rows of one KV head. Row i starts at base + slot(i) * stride, where slot(i) = slots[i], or i
// when slots is null. Each row holds padded_row(width) elements. Rows need no alignment beyond their element's.
struct RowsView {
  const void* base = nullptr;
  size_t stride = 0;                // bytes from one slot's row to the next
  RowType type = RowType::kF16;
  int width = 0;                    // head_dim: elements that carry data
  const uint32_t* slots = nullptr;  // logical index -> slot

  const void* row(size_t i) const {
    return static_cast<const std::byte*>(base) + (slots ? slots[i] : i) * stride;
  }
};

// Decodes row i into out[0 .. view.width).
VASE_API void read_row(const RowsView& view, size_t i, float* out);

}  // namespace vase
