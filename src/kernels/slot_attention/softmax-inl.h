// exp, maximum and sum over one segment's logits.
#if defined(VASE_SLOT_ATTENTION_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_SLOT_ATTENTION_SOFTMAX_INL_H_
#undef VASE_SLOT_ATTENTION_SOFTMAX_INL_H_
#else
#define VASE_SLOT_ATTENTION_SOFTMAX_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

#include "kernels/slot_attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

inline constexpr int kPad = 16;  // logits of a segment are padded to a multiple of this with -inf
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// exp(x) for x <= 0, relative error about 1e-7; 0 below -87.3 (the result would be subnormal); NaN stays NaN.
// Cody-Waite reduction to |r| <= ln(2)/2 and the Taylor polynomial of degree 7 (remainder 5e-9).
HWY_INLINE F32V exp_nonpositive(F32 d, F32V x) {
  const hn::RebindToSigned<F32> di;
  const F32V lowest = hn::Set(d, -87.3f);
  const auto underflows = hn::Lt(x, lowest);
  // -inf and NaN go round the conversion to integer, which is undefined for them.
  const F32V bounded = hn::IfThenElse(hn::Gt(x, lowest), x, lowest);
  const F32V n = hn::Round(hn::Mul(bounded, hn::Set(d, 1.44269504f)));
  F32V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  F32V y = hn::Set(d, 1.0f / 5040);
  for (float coefficient : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
    y = hn::MulAdd(y, r, hn::Set(d, coefficient));
  }
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));
  const F32V power = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
  return hn::IfThenElse(underflows, hn::Zero(d), hn::Mul(y, power));
}

HWY_INLINE int padded_count(int n) { return (n + kPad - 1) / kPad * kPad; }

// Completes the logits [0, n) of one query row: log-weights added, tail padded.
HWY_INLINE void finish_logits(const float* HWY_RESTRICT log_weight, int n, float* HWY_RESTRICT logits) {
  if (log_weight != nullptr) {
    for (int s = 0; s < n; ++s) logits[s] += log_weight[s];
  }
  for (int s = n; s < padded_count(n); ++s) logits[s] = kMinusInfinity;
}

HWY_INLINE float segment_max(const float* logits, int n) {
  const F32 d;
  F32V max = hn::Set(d, kMinusInfinity);
  for (int s = 0; s < padded_count(n); s += kLanes) max = hn::Max(max, load_row(d, logits + s));
  return hn::GetLane(hn::MaxOfLanes(d, max));
}

// p[s] = exp((logits[s] - max) * sharpness), s < padded_count(n); returns their sum. p may be logits.
// Everything is 0 when max is -inf.
HWY_INLINE float segment_exp(const float* logits, int n, float max, float sharpness, float* p) {
  const F32 d;
  const F32V origin = hn::Set(d, max == kMinusInfinity ? 0.0f : max);
  F32V sum = hn::Zero(d);
  for (int s = 0; s < padded_count(n); s += kLanes) {
    const F32V x = hn::Mul(hn::Sub(load_row(d, logits + s), origin), hn::Set(d, sharpness));
    const F32V e = exp_nonpositive(d, x);
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, p + s);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif
