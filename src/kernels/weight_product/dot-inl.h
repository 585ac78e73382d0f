// Dot products of quads of bytes, per SIMD target. No include guard but Highway's: compiled once per target.
#if defined(VASE_KERNELS_WEIGHT_PRODUCT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_KERNELS_WEIGHT_PRODUCT_DOT_INL_H_
#undef VASE_KERNELS_WEIGHT_PRODUCT_DOT_INL_H_
#else
#define VASE_KERNELS_WEIGHT_PRODUCT_DOT_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/weight_product/layout.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most one row of a strip per lane.
using I32 = hn::CappedTag<int32_t, kStripRows>;
using U8 = hn::Repartition<uint8_t, I32>;
using U16 = hn::Repartition<uint16_t, I32>;
using I32V = hn::Vec<I32>;
using U8V = hn::Vec<U8>;

#undef VASE_HAS_BYTE_PRODUCTS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
#define VASE_HAS_BYTE_PRODUCTS 1
#else
#define VASE_HAS_BYTE_PRODUCTS 0
#endif

#if VASE_HAS_BYTE_PRODUCTS && HWY_TARGET > HWY_AVX3_DL
// Sums of two products of bytes in 16 bits, then of two of these in 32. |a b + c d| must stay below 2^15.
HWY_INLINE I32V pairs_of_pairs(U8V w, I32V x) {
#if HWY_TARGET <= HWY_AVX3
  return I32V{_mm512_madd_epi16(_mm512_maddubs_epi16(w.raw, x.raw), _mm512_set1_epi16(1))};
#elif HWY_TARGET <= HWY_AVX2
  return I32V{_mm256_madd_epi16(_mm256_maddubs_epi16(w.raw, x.raw), _mm256_set1_epi16(1))};
#else
  return I32V{_mm_madd_epi16(_mm_maddubs_epi16(w.raw, x.raw), _mm_set1_epi16(1))};
#endif
}
#endif

#if !VASE_HAS_BYTE_PRODUCTS
// Byte i of every lane, as unsigned and as signed number.
template <int i>
HWY_INLINE I32V unsigned_byte(I32V v) {
  return hn::And(hn::ShiftRight<8 * i>(v), hn::Set(I32(), 255));
}
template <int i>
HWY_INLINE I32V signed_byte(I32V v) {
  return hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * i>(v));
}
#endif

// acc + w0 x0 + w1 x1 + w2 x2 + w3 x3 in every lane, exactly. w: unsigned bytes up to kLargest; x: signed bytes, not -128.
template <int kLargest>
HWY_INLINE I32V add_dot(I32V acc, U8V w, I32V x) {
#if !VASE_HAS_BYTE_PRODUCTS
  const I32V u = hn::BitCast(I32(), w);
  acc = hn::Add(acc, hn::Mul(unsigned_byte<0>(u), signed_byte<0>(x)));
  acc = hn::Add(acc, hn::Mul(unsigned_byte<1>(u), signed_byte<1>(x)));
  acc = hn::Add(acc, hn::Mul(unsigned_byte<2>(u), signed_byte<2>(x)));
  return hn::Add(acc, hn::Mul(unsigned_byte<3>(u), signed_byte<3>(x)));
#elif HWY_TARGET <= HWY_AVX3_DL
  return I32V{_mm512_dpbusd_epi32(acc.raw, w.raw, x.raw)};
#else
  if constexpr (kLargest > 127) {
    const U8V low = hn::And(w, hn::Set(U8(), 127)), high = hn::And(w, hn::Set(U8(), 128));
    return hn::Add(acc, hn::Add(pairs_of_pairs(low, x), pairs_of_pairs(high, x)));
  } else {
    return hn::Add(acc, pairs_of_pairs(w, x));
  }
#endif
}

}  // namespace vase::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
