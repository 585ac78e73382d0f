// Dot products of bytes. Included once per SIMD target, and once more for processors that have instructions for dot products
// of bytes beside the target's own (VASE_BYTE_DOT: VNNI on x86, dotprod on ARM; byte_dot_target.h); so it has no include guard,
// and the includer opens the namespace.

// At most 16 sums side by side.
using I32 = hn::CappedTag<int32_t, 16>;
using U8 = hn::Repartition<uint8_t, I32>;
using U16 = hn::Repartition<uint16_t, I32>;
using I32V = hn::Vec<I32>;
using U8V = hn::Vec<U8>;
using F32 = hn::RebindToFloat<I32>;
using F32V = hn::Vec<F32>;
using F16 = hn::Rebind<hwy::float16_t, F32>;
inline constexpr int kLanes = hn::MaxLanes(I32());

// ARM's instruction takes two signed bytes, those of x86 and all other code an unsigned and a signed one.
inline constexpr bool kSignedCodes = VASE_BYTE_DOT && HWY_ARCH_ARM;

#if VASE_BYTE_DOT
// Nothing else is needed.
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
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
#else
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

// acc + w0 x0 + w1 x1 + w2 x2 + w3 x3 in every lane, exactly. w: unsigned bytes up to kLargest, or
// signed ones where kSignedCodes; x: signed bytes.
template <int kLargest>
HWY_INLINE I32V add_dot(I32V acc, U8V w, I32V x) {
#if VASE_BYTE_DOT && HWY_ARCH_ARM
  static_assert(kLargest <= 127, "signed codes");
  return I32V{vdotq_s32(acc.raw, vreinterpretq_s8_u8(w.raw), vreinterpretq_s8_s32(x.raw))};
#elif VASE_BYTE_DOT && HWY_TARGET <= HWY_AVX3
  return I32V{_mm512_dpbusd_epi32(acc.raw, w.raw, x.raw)};
#elif VASE_BYTE_DOT
  return I32V{_mm256_dpbusd_avx_epi32(acc.raw, w.raw, x.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  if constexpr (kLargest > 127) {
    const U8V low = hn::And(w, hn::Set(U8(), 127)), high = hn::And(w, hn::Set(U8(), 128));
    return hn::Add(acc, hn::Add(pairs_of_pairs(low, x), pairs_of_pairs(high, x)));
  } else {
    return hn::Add(acc, pairs_of_pairs(w, x));
  }
#else
  const I32V u = hn::BitCast(I32(), w);
  acc = hn::Add(acc, hn::Mul(unsigned_byte<0>(u), signed_byte<0>(x)));
  acc = hn::Add(acc, hn::Mul(unsigned_byte<1>(u), signed_byte<1>(x)));
  acc = hn::Add(acc, hn::Mul(unsigned_byte<2>(u), signed_byte<2>(x)));
  return hn::Add(acc, hn::Mul(unsigned_byte<3>(u), signed_byte<3>(x)));
#endif
}

HWY_INLINE U8V codes(const std::byte* at) { return hn::LoadU(U8(), reinterpret_cast<const uint8_t*>(at)); }

HWY_INLINE U8V low_nibbles(U8V v) { return hn::And(v, hn::Set(U8(), 15)); }
HWY_INLINE U8V high_nibbles(U8V v) { return low_nibbles(hn::BitCast(U8(), hn::ShiftRight<4>(hn::BitCast(U16(), v)))); }
