// inclusion.h on Highway, in doubles: weights may span all magnitudes of floats.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/weighted_draw/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "base/math-inl.h"
#include "kernels/simd_target.h"
#include "kernels/weighted_draw/fused.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using vase::HWY_NAMESPACE::add_product;
using vase::HWY_NAMESPACE::F64;
using vase::HWY_NAMESPACE::F64V;
using vase::HWY_NAMESPACE::natural_log;
using vase::HWY_NAMESPACE::one_minus_exp;
using F32Half = hn::Rebind<float, F64>;  // as many floats as there are doubles
inline constexpr size_t kStep = hn::MaxLanes(F64());

// w t of one vector of weights; nobody's chance grows beyond exp(-700).
HWY_INLINE F64V exposure(const float* weights, double time) {
  const F64 d;
  return hn::Min(hn::Mul(hn::PromoteTo(d, hn::LoadU(F32Half(), weights)), hn::Set(d, time)), hn::Set(d, 700));
}

struct Sums {
  F64V value, slope;

  // d pi / d ln t = w t exp(-w t).
  HWY_INLINE void add(const float* weights, double time) {
    const F64 d;
    const F64V x = exposure(weights, time), chance = one_minus_exp(x);
    value = hn::Add(value, chance);
    slope = add_product(slope, x, hn::Sub(hn::Set(d, 1), chance));
  }
};

TotalInclusion Total(const float* weights, size_t count, double time) {
  note_simd_target(HWY_TARGET);
  const F64 d;
  Sums sums = {hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + kStep <= count; i += kStep) sums.add(weights + i, time);
  float last[kStep] = {};  // weights of 0 add nothing
  std::copy(weights + i, weights + count, last);
  sums.add(last, time);
  return {hn::GetLane(hn::SumOfLanes(d, sums.value)), hn::GetLane(hn::SumOfLanes(d, sums.slope))};
}

HWY_INLINE void costs(const float* weights, double time, float* out) {
  const F32Half df;
  hn::StoreU(hn::DemoteTo(df, hn::Neg(natural_log(one_minus_exp(exposure(weights, time))))), df, out);
}

void Costs(float* weights, size_t count, double time) {
  note_simd_target(HWY_TARGET);
  size_t i = 0;
  for (; i + kStep <= count; i += kStep) costs(weights + i, time, weights + i);
  float last[kStep];
  std::fill_n(last, kStep, 1.0f);
  std::copy(weights + i, weights + count, last);
  costs(last, time, last);
  std::copy_n(last, count - i, weights + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(Total);
HWY_EXPORT(Costs);

TotalInclusion total_inclusion(const float* weights, size_t count, double time) {
  return HWY_DYNAMIC_DISPATCH(Total)(weights, count, time);
}

void inclusion_costs(float* weights, size_t count, double time) {
  HWY_DYNAMIC_DISPATCH(Costs)(weights, count, time);
}

}  // namespace vase::kernels::fused
#endif
