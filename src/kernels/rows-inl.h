// Vectors of f32 out of stored rows, for every SIMD target.
#if defined(VASE_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_KERNELS_ROWS_INL_H_
#undef VASE_KERNELS_ROWS_INL_H_
#else
#define VASE_KERNELS_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
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

HWY_INLINE F32V load_row(F32 d, const hwy::bfloat16_t* p) {
  const hn::Rebind<uint32_t, F32> du;
  const hn::Rebind<uint16_t, F32> du16;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(du16, reinterpret_cast<const uint16_t*>(p)))));
}

// f32 out of half precision given as bits.
template <class V>
HWY_INLINE F32V promote_half(F32 d, V bits16) {
  if constexpr (kHasHalf) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), bits16));
  } else {
    const hn::Rebind<uint32_t, F32> du;
    const auto bits = hn::PromoteTo(du, bits16);
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

HWY_INLINE F32V load_row(F32 d, const hwy::float16_t* p) {
  return promote_half(d, hn::LoadU(hn::Rebind<uint16_t, F32>(), reinterpret_cast<const uint16_t*>(p)));
}

// A stored row of elements T, read a vector of channels at a time; channels are multiples of kLanes.
template <class T>
class Row {
 public:
  Row() = default;
  HWY_INLINE explicit Row(const void* row) : at_(static_cast<const T*>(row)) {}
  HWY_INLINE F32V load(F32 d, int channel) const { return load_row(d, at_ + channel); }
  HWY_INLINE const std::byte* address(int channel) const { return reinterpret_cast<const std::byte*>(at_ + channel); }

 private:
  const T* at_;
};

// Fetches a row that is used soon. Rows lie where their slots are, so that the machine cannot guess the next one.
template <class T>
HWY_INLINE void fetch_row(const void* row, int padded) {
  const auto* const from = static_cast<const std::byte*>(row);
  for (size_t at = 0; at < padded * sizeof(T); at += 64) __builtin_prefetch(from + at);
}

template <class T>
struct Element {
  using Type = T;
};

// f(Element<T>()) with the elements T of the rows of a type.
template <class F>
HWY_INLINE void with_elements(RowType type, const F& f) {
  switch (type) {
    case RowType::kF32:
      return f(Element<float>());
    case RowType::kF16:
      return f(Element<hwy::float16_t>());
    case RowType::kBF16:
      return f(Element<hwy::bfloat16_t>());
    case RowType::kQ8_0:
    case RowType::kQ4_0:
      return;  // in strips alone
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels
HWY_AFTER_NAMESPACE();
#endif
