// Where the codes of quantised rows lie in a strip: 16 slots side by side, so that one vector instruction multiplies numbers
// of 16 slots (keys) or of four slots and many channels (values).
//
// A row is cut into blocks of 32 channels that share an f16 scale, as in ggml's q8_0 and q4_0. A code is a whole number plus an
// offset, so that it has no sign: -127 to 127 plus 128 in a byte, -8 to 7 plus 8 in half a byte. Blocks of 4 bits are mixed first
// (mixing.h).
//
//   keys    [block][quad of channels][slot][channel in the quad]
//   values  [block][quad of slots][channel in the block][slot in the quad]
//   both    behind all codes [block][slot] scales, f16
//
// With 4 bits two neighbouring quads share their bytes, the first in the lower halves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vase::kernels {

enum class CodeBits : uint8_t { k8, k4 };
enum class StripKind : uint8_t { kKeys, kValues };

inline constexpr int kStripSlots = 16;
inline constexpr int kStripBlock = 32;  // channels that share a scale
inline constexpr int kQuad = 4;         // numbers that one instruction multiplies and adds

constexpr int code_offset(CodeBits bits) { return bits == CodeBits::k8 ? 128 : 8; }

// Bytes of the codes of one block, of a block with its scales, and of a whole strip. width: channels, a multiple of
// kStripBlock.
constexpr size_t block_code_bytes(CodeBits bits) { return kStripSlots * kStripBlock / (bits == CodeBits::k8 ? 1 : 2); }
constexpr size_t block_bytes(CodeBits bits) { return block_code_bytes(bits) + kStripSlots * sizeof(uint16_t); }
constexpr size_t strip_bytes(CodeBits bits, int width) { return width / kStripBlock * block_bytes(bits); }

// Slots of the strips that hold this many.
constexpr int padded_to_strips(int slots) { return (slots + kStripSlots - 1) / kStripSlots * kStripSlots; }

// Byte of a code, and whether it is the upper half of it. slot: in the strip.
struct CodePlace {
  size_t byte = 0;
  bool upper = false;
};

constexpr CodePlace code_place(StripKind kind, CodeBits bits, int slot, int channel) {
  const int inside = channel % kStripBlock;
  const int quad = (kind == StripKind::kKeys ? inside : slot) / kQuad;
  const int quad_bytes = (kind == StripKind::kKeys ? kStripSlots : kStripBlock) * kQuad;
  const int in_quad = kind == StripKind::kKeys ? slot * kQuad + inside % kQuad : inside * kQuad + slot % kQuad;
  const size_t block = channel / kStripBlock * block_code_bytes(bits);
  if (bits == CodeBits::k8) return {block + quad * quad_bytes + in_quad, false};
  return {block + quad / 2 * quad_bytes + in_quad, quad % 2 == 1};
}

// Byte of the scale of a block.
constexpr size_t scale_place(CodeBits bits, int width, int slot, int block) {
  return width / kStripBlock * block_code_bytes(bits) + (block * kStripSlots + slot) * sizeof(uint16_t);
}

}  // namespace vase::kernels
