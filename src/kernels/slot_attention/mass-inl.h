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
  const int n = candidates_in(args, token, segment);
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

// The probabilities of one segment's candidates for one token: row g of the group times its factor.
struct SegmentProbs {
  const float* p;       // [group][kProbStride]
  const float* factor;  // [group]
  int group;

  HWY_INLINE F32V at(F32 d, int g, int s) const {
    return hn::Mul(load_row(d, p + g * kProbStride + s), hn::Set(d, factor[g]));
  }
  HWY_INLINE float at(int g, int s) const { return p[g * kProbStride + s] * factor[g]; }
  HWY_INLINE F32V largest(F32 d, int s) const {
    F32V max = at(d, 0, s);
    for (int g = 1; g < group; ++g) max = hn::Max(max, at(d, g, s));
    return max;
  }
  HWY_INLINE float largest(int s) const {
    float max = at(0, s);
    for (int g = 1; g < group; ++g) max = std::max(max, at(g, s));
    return max;
  }
};

// The forms of mass: how a slot's record changes, for a vector of slots from s and for the slot s.
struct SumForm {
  float* sum;
  HWY_INLINE void update(F32 d, const SegmentProbs& probs, int s) const {
    F32V total = load_row(d, sum + s);
    for (int g = 0; g < probs.group; ++g) {
      total = hn::MulAdd(load_row(d, probs.p + g * kProbStride + s), hn::Set(d, probs.factor[g]), total);
    }
    hn::StoreU(total, d, sum + s);
  }
  HWY_INLINE void update(const SegmentProbs& probs, int s) const {
    for (int g = 0; g < probs.group; ++g) sum[s] += probs.at(g, s);
  }
};

struct SquaresForm {
  float* sum;
  HWY_INLINE void update(F32 d, const SegmentProbs& probs, int s) const {
    F32V total = load_row(d, sum + s);
    for (int g = 0; g < probs.group; ++g) {
      const F32V p = probs.at(d, g, s);
      total = hn::MulAdd(p, p, total);
    }
    hn::StoreU(total, d, sum + s);
  }
  HWY_INLINE void update(const SegmentProbs& probs, int s) const {
    for (int g = 0; g < probs.group; ++g) sum[s] += probs.at(g, s) * probs.at(g, s);
  }
};

struct MaxForm {
  float* sum;
  HWY_INLINE void update(F32 d, const SegmentProbs& probs, int s) const {
    hn::StoreU(hn::Max(load_row(d, sum + s), probs.largest(d, s)), d, sum + s);
  }
  HWY_INLINE void update(const SegmentProbs& probs, int s) const { sum[s] = std::max(sum[s], probs.largest(s)); }
};

struct RecurrenceForm {
  int32_t *last_use, *longest_gap;
  float threshold;
  int32_t position;  // of the token

  HWY_INLINE void update(F32 d, const SegmentProbs& probs, int s) const {
    const hn::RebindToSigned<F32> di;
    const auto used = hn::RebindMask(di, hn::Ge(probs.largest(d, s), hn::Set(d, threshold)));
    const auto now = hn::Set(di, position);
    const auto last = hn::LoadU(di, last_use + s), longest = hn::LoadU(di, longest_gap + s);
    hn::StoreU(hn::IfThenElse(used, hn::Max(longest, hn::Sub(now, last)), longest), di, longest_gap + s);
    hn::StoreU(hn::IfThenElse(used, now, last), di, last_use + s);
  }
  HWY_INLINE void update(const SegmentProbs& probs, int s) const {
    if (!(probs.largest(s) >= threshold)) return;
    longest_gap[s] = std::max(longest_gap[s], position - last_use[s]);
    last_use[s] = position;
  }
};

// Updates the first n slots of a segment.
template <class Form>
HWY_INLINE void update_segment(const Form& form, const SegmentProbs& probs, int n) {
  const F32 d;
  int s = 0;
  for (; s + kLanes <= n; s += kLanes) form.update(d, probs, s);
  for (; s < n; ++s) form.update(probs, s);
}

HWY_INLINE void update_segment(const SlotAttentionArgs& args, int token, int segment, const SegmentProbs& probs, int n) {
  const SegmentPlace place = place_of(args, segment);
  const MassArgs& mass = args.mass;
  const auto record = [&](auto* older, auto* own) HWY_ATTR { return (place.older ? older : own) + place.first(); };
  switch (mass.form) {
    case MassForm::kSum:
      return update_segment(SumForm{record(args.older.sum, mass.sum)}, probs, n);
    case MassForm::kSquares:
      return update_segment(SquaresForm{record(args.older.sum, mass.sum)}, probs, n);
    case MassForm::kMax:
      return update_segment(MaxForm{record(args.older.sum, mass.sum)}, probs, n);
    case MassForm::kRecurrence:
      return update_segment(RecurrenceForm{record(args.older.last_use, mass.last_use),
                                           record(args.older.longest_gap, mass.longest_gap), mass.threshold,
                                           mass.position + token},
                            probs, n);
  }
}

// Adds the mass of the tokens [first, first + tokens) of a tile.
HWY_INLINE void add_mass(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens) {
  if (!args.mass.wanted()) return;
  for (int t = 0; t < tokens; ++t) {
    if (!has_mass(args, first + t)) continue;
    const int segments = segments_up_to(args, visible_candidates(args, first + t));
    const int row0 = t * args.group;
    for (int g = 0; g < args.group; ++g) mass_factors(args, layout, segments, row0 + g);
    for (int i = 0; i < segments; ++i) {
      const bool own = mass_needs_own_probs(args, first + t, i);
      const SegmentProbs probs = {own ? layout.mass_probs(i, row0) : layout.probs(i, row0),
                                  &layout.mass_sum(i, row0), args.group};
      update_segment(args, first + t, i, probs, candidates_in(args, first + t, i));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif
