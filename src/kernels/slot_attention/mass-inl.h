// Attention mass over the candidates, out of the probabilities that attention has computed. It never touches
// what attention reads, so the output has the same bits with and without it.
#if defined(VASE_SLOT_ATTENTION_MASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_SLOT_ATTENTION_MASS_INL_H_
#undef VASE_SLOT_ATTENTION_MASS_INL_H_
#else
#define VASE_SLOT_ATTENTION_MASS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "kernels/slot_attention/layout.h"
#include "kernels/slot_attention/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

// Probabilities of a row's candidates where those of attention do not serve: relative to the candidates' own
// maximum (slots behind them may dwarf it) and at the temperature asked for. `logits` are complete.
HWY_INLINE void own_mass_probs(const SlotAttentionArgs& args, const Layout& layout, int token, int row,
                               int segment, const float* logits) {
  const int n = slots_in_segment(visible_candidates(args, token), segment);
  float* p = layout.mass_probs(segment, row);
  std::copy_n(logits, n, p);
  finish_logits(nullptr, n, p);
  const float max = segment_max(p, n);
  layout.mass_max(segment, row) = max;
  layout.mass_sum(segment, row) = segment_exp(p, n, max, 1.0f / args.mass.temperature, p);
}

// Turns the sums of a row's segments into the factors that make its candidates share one unit of mass.
HWY_INLINE void mass_factors(const SlotAttentionArgs& args, const Layout& layout, int segments, int row) {
  float max = kMinusInfinity;
  for (int i = 0; i < segments; ++i) max = std::max(max, layout.mass_max(i, row));
  const auto weight = [&](int i) {
    const float m = layout.mass_max(i, row);
    return m == kMinusInfinity ? 0.0f : std::exp((m - max) / args.mass.temperature);
  };
  float sum = 0;
  for (int i = 0; i < segments; ++i) sum += layout.mass_sum(i, row) * weight(i);
  for (int i = 0; i < segments; ++i) layout.mass_sum(i, row) = sum == 0 ? 0.0f : weight(i) / sum;
}

// mass[s] += sum over the group of p[g][s] * factor[g], for the first n slots of a segment.
HWY_INLINE void add_segment_mass(const Layout& layout, const float* p, int segment, int row0, int n,
                                 float* mass) {
  const F32 d;
  const int group = layout.group();
  int s = 0;
  for (; s + kLanes <= n; s += kLanes) {
    F32V sum = load_row(d, mass + s);
    for (int g = 0; g < group; ++g) {
      sum = hn::MulAdd(load_row(d, p + g * kProbStride + s), hn::Set(d, layout.mass_sum(segment, row0 + g)),
                       sum);
    }
    hn::StoreU(sum, d, mass + s);
  }
  for (; s < n; ++s) {
    for (int g = 0; g < group; ++g) mass[s] += p[g * kProbStride + s] * layout.mass_sum(segment, row0 + g);
  }
}

// Adds the mass of the tokens [first, first + tokens) of a tile to args.mass.sum.
HWY_INLINE void add_mass(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens) {
  if (args.mass.sum == nullptr) return;
  for (int t = 0; t < tokens; ++t) {
    if (!has_mass(args, first + t)) continue;
    const int candidates = visible_candidates(args, first + t);
    const int segments = (candidates + kSegment - 1) / kSegment;
    const int row0 = t * args.group;
    for (int g = 0; g < args.group; ++g) mass_factors(args, layout, segments, row0 + g);
    for (int i = 0; i < segments; ++i) {
      const bool own = mass_needs_own_probs(args, first + t, i);
      add_segment_mass(layout, own ? layout.mass_probs(i, row0) : layout.probs(i, row0), i, row0,
                       slots_in_segment(candidates, i), args.mass.sum + i * kSegment);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif
