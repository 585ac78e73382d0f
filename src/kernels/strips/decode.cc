// Decodes whole strips on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/strips/decode.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/rows-inl.h"
#include "kernels/simd_target.h"
#include "kernels/strips/fused.h"
#include "kernels/strips/mixing.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::HWY_NAMESPACE::F32;
using kernels::HWY_NAMESPACE::F32V;
using CodeLanes = hn::RebindToSigned<F32>;
using CodeVec = hn::Vec<CodeLanes>;

constexpr int kCodeLanes = kernels::HWY_NAMESPACE::kLanes;

// Four codes in every lane, of the quad at `at` or of the one that shares its bytes.
HWY_INLINE CodeVec four_codes(CodeBits bits, const std::byte* at, bool upper) {
  const CodeLanes di;
  const CodeVec bytes = hn::LoadU(di, reinterpret_cast<const int32_t*>(at));
  if (bits == CodeBits::k8) return bytes;
  return hn::And(upper ? hn::ShiftRight<4>(bytes) : bytes, hn::Set(di, 0x0f0f0f0f));
}

// Byte `i` of every lane, as the number that the code stands for.
template <int i>
HWY_INLINE F32V number(CodeVec codes, int offset) {
  const CodeLanes di;
  const CodeVec code = hn::And(hn::ShiftRight<8 * i>(codes), hn::Set(di, 255));
  return hn::ConvertTo(F32(), hn::Sub(code, hn::Set(di, offset)));
}

struct Block {
  CodeBits bits;
  const std::byte* codes;
  const uint16_t* scales;  // [kStripSlots]
  int slots;               // that are in use
  float* out;              // [slot], its channels from the block's first on
  size_t stride;           // floats
};

HWY_INLINE const std::byte* quad_at(const Block& block, int quad, size_t quad_bytes) {
  return block.codes + (block.bits == CodeBits::k8 ? quad : quad / 2) * quad_bytes;
}

// Values: lanes are channels, bytes are slots.
HWY_INLINE void decode_values(const Block& block) {
  const F32 d;
  const int offset = code_offset(block.bits);
  const auto put = [&](int slot, int lane, F32V numbers) HWY_ATTR {
    if (slot >= block.slots) return;
    const F32V scale = kernels::HWY_NAMESPACE::promote_half(d, hn::Set(hn::Rebind<uint16_t, F32>(), block.scales[slot]));
    hn::StoreU(hn::Mul(numbers, scale), d, block.out + slot * block.stride + lane);
  };
  for (int quad = 0; quad < kStripSlots / kQuad; ++quad) {
    const std::byte* const at = quad_at(block, quad, kStripBlock * kQuad);
    for (int lane = 0; lane < kStripBlock; lane += kCodeLanes) {
      const CodeVec codes = four_codes(block.bits, at + lane * kQuad, quad % 2 == 1);
      put(quad * kQuad, lane, number<0>(codes, offset));
      put(quad * kQuad + 1, lane, number<1>(codes, offset));
      put(quad * kQuad + 2, lane, number<2>(codes, offset));
      put(quad * kQuad + 3, lane, number<3>(codes, offset));
    }
  }
}

// Keys: lanes are slots, bytes are channels.
HWY_INLINE void decode_keys(const Block& block) {
  const F32 d;
  const int offset = code_offset(block.bits);
  for (int quad = 0; quad < kStripBlock / kQuad; ++quad) {
    const std::byte* const at = quad_at(block, quad, kStripSlots * kQuad);
    for (int lane = 0; lane < kStripSlots; lane += kCodeLanes) {
      const CodeVec codes = four_codes(block.bits, at + lane * kQuad, quad % 2 == 1);
      const F32V scale = kernels::HWY_NAMESPACE::promote_half(d, hn::LoadU(hn::Rebind<uint16_t, F32>(), block.scales + lane));
      float numbers[kQuad][kCodeLanes];
      hn::StoreU(hn::Mul(number<0>(codes, offset), scale), d, numbers[0]);
      hn::StoreU(hn::Mul(number<1>(codes, offset), scale), d, numbers[1]);
      hn::StoreU(hn::Mul(number<2>(codes, offset), scale), d, numbers[2]);
      hn::StoreU(hn::Mul(number<3>(codes, offset), scale), d, numbers[3]);
      for (int s = 0; s < std::min(kCodeLanes, block.slots - lane); ++s) {
        float* const to = block.out + (lane + s) * block.stride + quad * kQuad;
        for (int i = 0; i < kQuad; ++i) to[i] = numbers[i][s];
      }
    }
  }
}

void DecodeStrips(const Strips& strips, int slots, float* out, size_t stride) {
  note_simd_target(HWY_TARGET);
  for (int first = 0; first < slots; first += kStripSlots) {
    const std::byte* const strip = strips.strip(first / kStripSlots);
    for (int b = 0; b < strips.width / kStripBlock; ++b) {
      const Block block{.bits = strips.bits,
                        .codes = strip + b * block_code_bytes(strips.bits),
                        .scales = reinterpret_cast<const uint16_t*>(strip + scale_place(strips.bits, strips.width, 0, b)),
                        .slots = std::min(kStripSlots, slots - first),
                        .out = out + first * stride + b * kStripBlock,
                        .stride = stride};
      strips.kind == StripKind::kKeys ? decode_keys(block) : decode_values(block);
      if (!is_mixed(strips.bits)) continue;
      for (int s = 0; s < block.slots; ++s) mix_block(block.out + s * stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {

HWY_EXPORT(DecodeStrips);

void decode_strips(const Strips& strips, int slots, float* out, size_t stride) {
  HWY_DYNAMIC_DISPATCH(DecodeStrips)(strips, slots, out, stride);
}

}  // namespace vase::kernels::fused
#endif
