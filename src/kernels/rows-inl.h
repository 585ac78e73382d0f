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

// Elements of RowType::kQ8_0, whose scales lie behind them.
struct Q8_0 {
  int8_t number;
};

HWY_INLINE F32V load_scaled(F32 d, const int8_t* p, F32V scale) {
  const auto numbers = hn::PromoteTo(hn::RebindToSigned<F32>(), hn::LoadU(hn::Rebind<int8_t, F32>(), p));
  return hn::Mul(hn::ConvertTo(d, numbers), scale);  // exact: 8 bits times 11
}

// A stored row of elements T, read a vector of channels at a time; channels are multiples of kLanes.
template <class T>
class Row {
 public:
  // Vectors that share a scale. 1, and a scale of nothing, for types without.
  static constexpr int kVectors = 1;
  struct Scale {};

  Row() = default;
  HWY_INLINE Row(const void* row, int /*padded*/) : at_(static_cast<const T*>(row)) {}
  HWY_INLINE Scale scale(F32, int /*channel*/) const { return {}; }
  HWY_INLINE F32V load(F32 d, int channel, Scale) const { return load_row(d, at_ + channel); }
  HWY_INLINE F32V load(F32 d, int channel) const { return load_row(d, at_ + channel); }
  HWY_INLINE const std::byte* address(int channel) const { return reinterpret_cast<const std::byte*>(at_ + channel); }

  static constexpr size_t bytes(int padded) { return padded * sizeof(T); }

 private:
  const T* at_;
};

template <>
class Row<Q8_0> {
 public:
  static constexpr int kBlock = row_block(RowType::kQ8_0);
  static constexpr int kVectors = kBlock / kLanes;
  using Scale = F32V;

  Row() = default;
  HWY_INLINE Row(const void* row, int padded)
      : at_(static_cast<const int8_t*>(row)), scales_(reinterpret_cast<const uint16_t*>(at_ + scale_offset(padded, 0))) {}

  HWY_INLINE F32V scale(F32 d, int channel) const {
    return promote_half(d, hn::Set(hn::Rebind<uint16_t, F32>(), scales_[channel / kBlock]));
  }
  HWY_INLINE F32V load(F32 d, int channel, F32V scale) const { return load_scaled(d, at_ + channel, scale); }
  HWY_INLINE F32V load(F32 d, int channel) const { return load(d, channel, scale(d, channel)); }
  HWY_INLINE const std::byte* address(int channel) const { return reinterpret_cast<const std::byte*>(at_ + channel); }

  static constexpr size_t bytes(int padded) { return row_bytes(RowType::kQ8_0, padded); }

 private:
  const int8_t* at_;
  const uint16_t* scales_;
};

// Fetches a row that is used soon. Rows lie where their slots are, so that the machine cannot guess the next one.
template <class T>
HWY_INLINE void fetch_row(const void* row, int padded) {
  const auto* const from = static_cast<const std::byte*>(row);
  const size_t bytes = Row<T>::bytes(padded);
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at);
  if (bytes % 64 != 0) __builtin_prefetch(from + bytes - 1);  // such rows begin anywhere in a line
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
      return f(Element<Q8_0>());
    case RowType::kQ4_0:
      return;  // in strips alone
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels
HWY_AFTER_NAMESPACE();
#endif
