// Rows of keys or values as the cache stores them: how an element is encoded, and a strided, slot-indexed view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "vase/export.h"

namespace vase {

// Encoding of a key or value row. The quantised types have the bytes of ggml's types of these names: blocks of 32 whole
// numbers (-127 to 127, or -8 to 7) that share an f16 scale. q8_0 has their numbers too; q4_0 mixes the channels of a
// block first. They exist in a cache's strips alone (docs/layouts.md), never in a RowsView.
enum class RowType : uint8_t { kF32, kF16, kBF16, kQ8_0, kQ4_0 };
inline constexpr RowType kCacheTypes[] = {RowType::kF32, RowType::kF16, RowType::kBF16, RowType::kQ8_0, RowType::kQ4_0};
inline constexpr RowType kRowTypes[] = {RowType::kF32, RowType::kF16, RowType::kBF16};  // of a RowsView

constexpr bool is_quantised(RowType type) { return type == RowType::kQ8_0 || type == RowType::kQ4_0; }

// "f32", "f16", "bf16", "q8_0" or "q4_0".
VASE_API std::string_view row_type_name(RowType type);
// Of keys and values: "f16", or "q8_0,q4_0" where they differ.
VASE_API std::string row_types_name(RowType key, RowType value);

// Elements that share a scale; head_dim must be a multiple of it. 1 for types without.
constexpr int row_block(RowType type) { return is_quantised(type) ? 32 : 1; }

// Elements that a stored row takes: head_dim rounded up to a multiple of 16, the tail filled with zeros, so that
// a SIMD loop over a row needs no remainder. Equal to head_dim for every common size (64, 80, 96, 112, 128, 256).
constexpr int padded_row(int head_dim) { return (head_dim + 15) / 16 * 16; }

// Bytes of a stored row; of quantised types what a slot takes of its strip.
constexpr size_t row_bytes(RowType type, int head_dim) {
  const size_t padded = padded_row(head_dim);
  if (is_quantised(type)) return padded / (type == RowType::kQ8_0 ? 1 : 2) + padded / row_block(type) * 2;
  return padded * (type == RowType::kF32 ? 4 : 2);
}

// Read-only view of rows of one KV head. Row i starts at base + slot(i) * stride, where slot(i) = slots[i], or i
// when slots is null. Each row holds row_bytes(type, width). Rows need no alignment beyond their element's.
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

// Decodes row i into out[0 .. view.width). Throws Error(kUsage) for the rows of a HeadView that are stored quantised and that
// PolicyNeeds has not asked for.
VASE_API void read_row(const RowsView& view, size_t i, float* out);

}  // namespace vase
