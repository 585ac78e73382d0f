// Elementary functions of doubles that give the same bits on every SIMD target: additions, multiplications and
// divisions in a fixed order, never fused. Series instead of fitted polynomials, so that every coefficient explains
// itself.
#if defined(VASE_BASE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_BASE_MATH_INL_H_
#undef VASE_BASE_MATH_INL_H_
#else
#define VASE_BASE_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace vase {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::CappedTag<double, 8>;
using F64V = hn::Vec<F64>;
using U64 = hn::RebindToUnsigned<F64>;
using U64V = hn::Vec<U64>;

inline constexpr double kLn2High = 0x1.62e42feep-1,
                        kLn2Low = 0x1.a39ef35793c76p-33;  // the first times 11 bits is exact
inline constexpr double kRounder = 0x1.8p52;  // adding it rounds to an integer, which then fills the low bits
inline constexpr uint64_t kMantissa = (uint64_t(1) << 52) - 1, kOne = uint64_t(1023) << 52;

// a + x * y in two roundings.
HWY_INLINE F64V add_product(F64V a, F64V x, F64V y) { return hn::Add(a, hn::Mul(x, y)); }

// sum of coefficients[i] x^i.
template <int N>
HWY_INLINE F64V power_series(const double (&coefficients)[N], F64V x) {
  const F64 d;
  F64V sum = hn::Set(d, coefficients[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = add_product(hn::Set(d, coefficients[i]), sum, x);
  return sum;
}

// ln x of positive, finite, normal x; relative error below 4e-16 (measured against an 80-bit logarithm).
// x = 2^n (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); ln(1 + f) = 2 artanh s, s = f / (2 + f), and 2 s = f - s f, so that
// f, which is exact, leads.
HWY_INLINE F64V natural_log(F64V x) {
  constexpr double kSeries[] = {2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21};
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const F64 d;
  const U64 du;
  const U64V bits = hn::Add(hn::BitCast(du, x), hn::Set(du, kOne - kRootHalf));
  const U64V m = hn::Add(hn::And(bits, hn::Set(du, kMantissa)), hn::Set(du, kRootHalf));
  // The biased exponent below the leading bit of 2^52 is 2^52 more than itself.
  const U64V exponent = hn::Or(hn::ShiftRight<52>(bits), hn::BitCast(du, hn::Set(d, 0x1p52)));
  const F64V n = hn::Sub(hn::BitCast(d, exponent), hn::Set(d, 0x1p52 + 1023));
  const F64V f = hn::Sub(hn::BitCast(d, m), hn::Set(d, 1));
  const F64V s = hn::Div(f, hn::Add(f, hn::Set(d, 2)));
  const F64V z = hn::Mul(s, s);
  const F64V rest = hn::Mul(z, power_series(kSeries, z));
  const F64V low = hn::Sub(hn::Mul(n, hn::Set(d, kLn2Low)), hn::Mul(s, hn::Sub(f, rest)));
  return add_product(hn::Add(f, low), n, hn::Set(d, kLn2High));
}

// 1 - exp(-x) for x >= 0, relative error below 1e-10: as exp(-x) = 2^n (1 + p), it is (1 - 2^n) - 2^n p.
HWY_INLINE F64V one_minus_exp(F64V x) {
  constexpr double kSeries[] = {1,         1. / 2,   1. / 6,    1. / 24,   1. / 120,
                                1. / 720, 1. / 5040, 1. / 40320, 1. / 362880};
  const F64 d;
  const U64 du;
  const F64V y = hn::Neg(hn::Min(x, hn::Set(d, 700)));
  const F64V rounded = add_product(hn::Set(d, kRounder), y, hn::Set(d, 1.4426950408889634));
  const F64V n = hn::Sub(rounded, hn::Set(d, kRounder));
  const F64V r = hn::Sub(hn::Sub(y, hn::Mul(n, hn::Set(d, kLn2High))), hn::Mul(n, hn::Set(d, kLn2Low)));
  const F64V p = hn::Mul(r, power_series(kSeries, r));
  const F64V scale =
      hn::BitCast(d, hn::Add(hn::ShiftLeft<52>(hn::BitCast(du, rounded)), hn::Set(du, kOne)));
  return hn::Sub(hn::Sub(hn::Set(d, 1), scale), hn::Mul(scale, p));
}

// Cosine and sine of 2 pi t, 0 <= t <= 1; error below 3e-16. A quarter turn more exchanges the two and turns a sign.
HWY_INLINE void circle_point(F64V t, F64V& cosine, F64V& sine) {
  constexpr double kCosine[] = {1.,           -1. / 2,         1. / 24,          -1. / 720,           1. / 40320,
                                -1. / 3628800, 1. / 479001600, -1. / 87178291200, 1. / 20922789888000};
  constexpr double kSine[] = {1.,          -1. / 6,        1. / 120,         -1. / 5040,
                              1. / 362880, -1. / 39916800, 1. / 6227020800, -1. / 1307674368000};
  const F64 d;
  const U64 du;
  const F64V rounded = add_product(hn::Set(d, kRounder), t, hn::Set(d, 4));
  const U64V quarters = hn::BitCast(du, rounded);
  const F64V off = hn::Sub(t, hn::Mul(hn::Sub(rounded, hn::Set(d, kRounder)), hn::Set(d, 0.25)));
  const F64V angle = hn::Mul(off, hn::Set(d, 6.283185307179586)), square = hn::Mul(angle, angle);
  const F64V c = power_series(kCosine, square), s = hn::Mul(angle, power_series(kSine, square));
  const auto odd = hn::MaskFromVec(hn::BitCast(d, hn::Sub(hn::Zero(du), hn::And(quarters, hn::Set(du, 1)))));
  const U64V cosine_sign = hn::ShiftLeft<62>(hn::And(hn::Add(quarters, hn::Set(du, 1)), hn::Set(du, 2)));
  const U64V sine_sign = hn::ShiftLeft<62>(hn::And(quarters, hn::Set(du, 2)));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(d, cosine_sign));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(d, sine_sign));
}

}  // namespace HWY_NAMESPACE
}  // namespace vase
HWY_AFTER_NAMESPACE();
#endif
