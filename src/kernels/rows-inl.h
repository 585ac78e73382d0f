// Vectors of f32 out of stored rows, for every SIMD target.
#if defined(VASE_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_KERNELS_ROWS_INL_H_
#undef VASE_KERNELS_ROWS_INL_H_
#else
#define VASE_KERNELS_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "vase/rows.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes, so that padded rows need no remainder.
using F32 = hn::CappedTag<float, 16>;
using F32V = hn::Vec<F32>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32()));

// Targets with an instruction for half precision: x86 from AVX2 on, and the NEON family of AArch64. Within an
// architecture Highway numbers better targets lower, and its emulated ones come last. Elsewhere Highway's
// stand-in may read infinity and NaN as finite numbers, so load_row() has its own.
inline constexpr bool kHasHalf =
    (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || (HWY_ARCH_ARM_A64 && HWY_TARGET < HWY_EMU128);

HWY_INLINE F32V load_row(F32 d, const float* p) { return hn::LoadU(d, p); }

HWY_INLINE F32V load_row(F32 d, const hwy::float16_t* p) {
  if constexpr (kHasHalf) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, F32>(), p));
  } else {
    const hn::Rebind<uint32_t, F32> du;
    const hn::Rebind<uint16_t, F32> du16;
    const auto bits = hn::PromoteTo(du, hn::LoadU(du16, reinterpret_cast<const uint16_t*>(p)));
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffu));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    // The exponent keeps half precision's bias; 2^112 makes up for it, subnormals included.
    const auto scaled =
        hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 5.192296858534828e33f));
    const auto not_finite = hn::Gt(magnitude, hn::Set(du, 0x7bffu));
    const auto exponent = hn::IfThenElseZero(not_finite, hn::Set(du, 0x7f800000u));
    return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(du, scaled), exponent), sign));
  }
}

HWY_INLINE F32V load_row(F32 d, const void* row, RowType type, int channel) {
  return type == RowType::kF32 ? load_row(d, static_cast<const float*>(row) + channel)
                               : load_row(d, static_cast<const hwy::float16_t*>(row) + channel);
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels
HWY_AFTER_NAMESPACE();
#endif
