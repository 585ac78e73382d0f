#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/logits.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "eval/logits.h"

HWY_BEFORE_NAMESPACE();
namespace vase::eval {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using F32V = hn::Vec<F32>;

// Numbers that are added up in f32 before they are added to a double.
constexpr size_t kBlock = 2048;

// Sum over i in [0, count) of term(i), a vector from i on; rest(i) for what does not fill a vector.
template <class Term, class Rest>
HWY_INLINE double sum_of(size_t count, const Term& term, const Rest& rest) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  double sum = 0;
  size_t i = 0;
  while (i + lanes <= count) {
    F32V part = hn::Zero(d);
    for (const size_t end = std::min(count, i + kBlock); i + lanes <= end; i += lanes) part = hn::Add(part, term(i));
    sum += hn::GetLane(hn::SumOfLanes(d, part));
  }
  for (; i < count; ++i) sum += rest(i);
  return sum;
}

double SumExp(const float* x, size_t count, float top) {
  const F32 d;
  const F32V shift = hn::Set(d, top);
  return sum_of(
      count,
      [&](size_t i) HWY_ATTR {
        const F32V shifted = hn::Sub(hn::LoadU(d, x + i), shift);
        return hn::IfThenElse(hn::IsNaN(shifted), shifted, hn::Exp(d, shifted));  // Exp() makes NaN 0
      },
      [&](size_t i) { return std::exp(x[i] - top); });
}

// Tokens that are less likely add nothing, whatever the other side says of them (ln p may be -infinity).
constexpr float kLeastLog = -80;

// p ln(p / q) with ln q = logit - normaliser.
double SumKl(const float* log_p, const float* logits, size_t count, float normaliser) {
  const F32 d;
  const F32V shift = hn::Set(d, normaliser);
  return sum_of(
      count,
      [&](size_t i) HWY_ATTR {
        const F32V p = hn::LoadU(d, log_p + i);
        const F32V part = hn::Mul(hn::Exp(d, p), hn::Sub(p, hn::Sub(hn::LoadU(d, logits + i), shift)));
        return hn::IfThenZeroElse(hn::Lt(p, hn::Set(d, kLeastLog)), part);
      },
      [&](size_t i) {
        return log_p[i] < kLeastLog ? 0.0f : std::exp(log_p[i]) * (log_p[i] - (logits[i] - normaliser));
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::eval
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::eval {

HWY_EXPORT(SumExp);
HWY_EXPORT(SumKl);

double log_sum_exp(std::span<const float> logits) {
  const float top = *std::ranges::max_element(logits);
  return top + std::log(HWY_DYNAMIC_DISPATCH(SumExp)(logits.data(), logits.size(), top));
}

double kl_divergence(std::span<const float> log_p, std::span<const float> logits, double normaliser) {
  const auto shift = static_cast<float>(normaliser);
  const double kl = HWY_DYNAMIC_DISPATCH(SumKl)(log_p.data(), logits.data(), log_p.size(), shift);
  // What rounding took from the normaliser counts once: the p add up to 1. Below 0 is rounding, too.
  return std::max(kl + (normaliser - shift), 0.0);
}

}  // namespace vase::eval
#endif
