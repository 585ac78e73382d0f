// philox_spans.h on Highway. A lane of 64 bits holds one 32-bit word in its lower half; what is above is left over from
// a product and means nothing.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/philox_spans.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "base/math-inl.h"
#include "base/philox_spans.h"

HWY_BEFORE_NAMESPACE();
namespace vase {
namespace HWY_NAMESPACE {

using F32Half = hn::Rebind<float, F64>;  // as many floats as there are doubles
inline constexpr size_t kBlocks = hn::MaxLanes(F64());

struct Words {
  U64V w0, w1, w2, w3;
};

// Product of the lower half with a 32-bit constant.
HWY_INLINE U64V product(U64V x, uint32_t factor) {
  const U64 du;
#if HWY_TARGET == HWY_SCALAR
  return hn::Mul(hn::And(x, hn::Set(du, 0xffffffff)), hn::Set(du, factor));
#else
  const hn::Repartition<uint32_t, U64> d32;
  return hn::MulEven(hn::BitCast(d32, x), hn::BitCast(d32, hn::Set(du, factor)));
#endif
}

HWY_INLINE Words blocks(const PhiloxStream& stream, U64V counter) {
  const U64 du;
  Words w = {counter, hn::Set(du, stream.counter[0]), hn::Set(du, stream.counter[1]), hn::Set(du, stream.counter[2])};
  uint32_t key0 = stream.key[0], key1 = stream.key[1];
  for (int round = 0; round < 10; ++round) {
    const U64V a = product(w.w0, 0xD2511F53), b = product(w.w2, 0xCD9E8D57);
    w = {hn::Xor(hn::Xor(hn::ShiftRight<32>(b), w.w1), hn::Set(du, key0)), b,
         hn::Xor(hn::Xor(hn::ShiftRight<32>(a), w.w3), hn::Set(du, key1)), a};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return w;
}

// The 64 bits high | low.
HWY_INLINE U64V joined(U64V high, U64V low) {
  return hn::Or(hn::ShiftLeft<32>(high), hn::And(low, hn::Set(U64(), 0xffffffff)));
}

// 1 + k 2^-52, k the upper 52 bits.
HWY_INLINE F64V one_and(U64V bits) {
  return hn::BitCast(F64(), hn::Or(hn::ShiftRight<12>(bits), hn::Set(U64(), kOne)));
}

// 1 - (k + 1/2) 2^-52, k the upper 52 bits: neither 0 nor 1, and exact.
HWY_INLINE F64V one_minus_open_unit(U64V bits) {
  const F64 d;
  return hn::Sub(hn::Sub(hn::Set(d, 2), one_and(bits)), hn::Set(d, 0x1p-53));
}

// (k + 1/2) 2^-52.
HWY_INLINE F64V open_unit(U64V bits) {
  const F64 d;
  return hn::Add(hn::Sub(one_and(bits), hn::Set(d, 1)), hn::Set(d, 0x1p-53));
}

// The upper 53 bits as a number in [0, 1).
HWY_INLINE F64V unit(U64V bits) {
  const F64 d;
  const U64 du;
  const U64V bit = hn::And(hn::ShiftRight<11>(bits), hn::Set(du, 1));
  const auto last = hn::MaskFromVec(hn::BitCast(d, hn::Sub(hn::Zero(du), bit)));
  return hn::Add(hn::Sub(one_and(bits), hn::Set(d, 1)), hn::IfThenElseZero(last, hn::Set(d, 0x1p-53)));
}

struct Uniform {
  HWY_INLINE F64V operator()(const Words& w) const {
    const F64 d;
    const U64 du;
    const U64V top = hn::And(hn::ShiftRight<8>(w.w0), hn::Set(du, 0xffffff));
    const F64V shifted = hn::BitCast(d, hn::Or(top, hn::BitCast(du, hn::Set(d, 0x1p52))));
    return hn::Mul(hn::Sub(shifted, hn::Set(d, 0x1p52)), hn::Set(d, 0x1p-24));
  }
};

struct Exponential {
  HWY_INLINE F64V operator()(const Words& w) const {
    return hn::Neg(natural_log(one_minus_open_unit(joined(w.w0, w.w1))));
  }
};

template <class Number>
HWY_INLINE void numbers_at(const PhiloxStream& stream, const int32_t* positions, float* out) {
  const F32Half df;
  const hn::Rebind<uint32_t, F64> d32;
  const auto at = hn::LoadU(d32, reinterpret_cast<const uint32_t*>(positions));
  hn::StoreU(hn::DemoteTo(df, Number()(blocks(stream, hn::PromoteTo(U64(), at)))), df, out);
}

// One number from each block. The last ones go through whole vectors, too, so they get the same bits.
template <class Number>
HWY_INLINE void numbers(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out) {
  size_t i = 0;
  for (; i + kBlocks <= count; i += kBlocks) numbers_at<Number>(stream, positions + i, out + i);
  if (i == count) return;
  int32_t last_positions[kBlocks] = {};
  float last[kBlocks];
  std::copy(positions + i, positions + count, last_positions);
  numbers_at<Number>(stream, last_positions, last);
  std::copy_n(last, count - i, out + i);
}

void UniformSpan(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out) {
  numbers<Uniform>(stream, positions, count, out);
}

void ExponentialSpan(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out) {
  numbers<Exponential>(stream, positions, count, out);
}

void GaussianSpan(const PhiloxStream& stream, size_t count, float* out) {
  const F64 d;
  const U64 du;
  const F32Half df;
  HWY_ALIGN uint64_t lane[kBlocks];
  for (size_t i = 0; i < kBlocks; ++i) lane[i] = i;
  U64V counter = hn::Load(du, lane);
  for (size_t i = 0; i < count; i += 2 * kBlocks) {
    const Words w = blocks(stream, counter);
    counter = hn::Add(counter, hn::Set(du, kBlocks));
    const F64V log = natural_log(open_unit(joined(w.w0, w.w1)));
    const F64V radius = hn::Sqrt(hn::Mul(hn::Set(d, -2), log));
    F64V cosine, sine;
    circle_point(unit(joined(w.w2, w.w3)), cosine, sine);
    HWY_ALIGN float x[kBlocks], y[kBlocks];
    hn::Store(hn::DemoteTo(df, hn::Mul(radius, cosine)), df, x);
    hn::Store(hn::DemoteTo(df, hn::Mul(radius, sine)), df, y);
    const size_t n = std::min(2 * kBlocks, count - i);
    for (size_t j = 0; j < n; ++j) out[i + j] = j % 2 ? y[j / 2] : x[j / 2];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase {
HWY_EXPORT(UniformSpan);
HWY_EXPORT(ExponentialSpan);
HWY_EXPORT(GaussianSpan);

void philox_uniform_span(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(UniformSpan)(stream, positions, count, out);
}

void philox_exponential_span(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(ExponentialSpan)(stream, positions, count, out);
}

void philox_gaussian_span(const PhiloxStream& stream, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(GaussianSpan)(stream, count, out);
}

}  // namespace vase
#endif
