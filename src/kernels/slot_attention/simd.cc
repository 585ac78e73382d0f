// Slot attention on Highway: decode by segments, prefill by tiles of tokens, and the fold that both share.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/slot_attention/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/simd_target.h"
#include "kernels/slot_attention/fused.h"
#include "kernels/slot_attention/layout.h"
#include "kernels/slot_attention/mass-inl.h"
#include "kernels/slot_attention/softmax-inl.h"
#include "kernels/slot_attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

// Ahead of use, in each of the two streams. 4 and 16 KiB are up to a tenth slower on a Xeon.
inline constexpr size_t kPrefetchBytes = 8 * 1024;

template <class T>
Rows<T> segment_rows(const RowsView& view, int padded, int segment, int begin = 0) {
  const size_t slot = size_t(segment) * kSegment + begin;
  return {static_cast<const std::byte*>(view.base) + slot * view.stride, view.stride, padded};
}

// Rows to come, in whole rows, so that a stride beyond the row's own bytes is skipped.
template <class T>
Rows<T> with_prefetch(Rows<T> rows) {
  rows.ahead = kPrefetchBytes / Row<T>::bytes(rows.padded) * rows.stride;
  return rows;
}

// Scaled, zero-padded copies of the queries of tokens [first, first + tokens), and an empty running result.
void load_queries(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens) {
  for (int row = 0; row < tokens * args.group; ++row) {
    const float* q =
        args.q + (first + row / args.group) * args.q_token_stride + row % args.group * args.q_head_stride;
    float* copy = layout.query(row);
    for (int i = 0; i < args.head_dim; ++i) copy[i] = q[i] * args.scale;
    std::fill(copy + args.head_dim, copy + layout.padded(), 0.0f);
    std::fill_n(layout.result(row), layout.padded(), 0.0f);
    layout.result_max(row) = kMinusInfinity;
    layout.result_sum(row) = 0;
  }
}

// Logits of one token's rows in a segment -> probabilities relative to each row's maximum, for attention and
// mass.
void segment_softmax(const SlotAttentionArgs& args, const Layout& layout, int token, int row0, int segment) {
  const int n = slots_in_segment(visible_slots(args, token), segment);
  const bool mass = has_mass(args, token) && slots_in_segment(visible_candidates(args, token), segment) > 0;
  const bool own_probs = mass && mass_needs_own_probs(args, token, segment);
  const float* log_weight = args.log_weight ? args.log_weight + segment * kSegment : nullptr;
  for (int row = row0; row < row0 + args.group; ++row) {
    float* logits = layout.probs(segment, row);
    finish_logits(log_weight, n, logits);
    if (own_probs) own_mass_probs(args, layout, token, row, segment, logits);
    const float max = segment_max(logits, n);
    const float sum = segment_exp(logits, n, max, 1.0f, logits);
    layout.max(segment, row) = max;
    layout.sum(segment, row) = sum;
    if (mass && !own_probs) {
      layout.mass_max(segment, row) = max;
      layout.mass_sum(segment, row) = sum;
    }
    std::fill_n(layout.partial(segment, row), layout.padded(), 0.0f);
  }
}

// Running result of a row, with one more segment. NaN in either goes on into the result.
void fold(const Layout& layout, int segment, int row) {
  const F32 d;
  const float segment_max = layout.max(segment, row);
  if (segment_max == kMinusInfinity && layout.sum(segment, row) == 0) return;
  const float max = std::max(layout.result_max(row), segment_max);
  const float keep = std::exp(layout.result_max(row) - max);
  const float add = std::exp(segment_max - max);
  layout.result_max(row) = max;
  layout.result_sum(row) = layout.result_sum(row) * keep + layout.sum(segment, row) * add;
  float* result = layout.result(row);
  const float* partial = layout.partial(segment, row);
  for (int i = 0; i < layout.padded(); i += kLanes) {
    const F32V kept = hn::Mul(load_row(d, result + i), hn::Set(d, keep));
    hn::StoreU(hn::MulAdd(load_row(d, partial + i), hn::Set(d, add), kept), d, result + i);
  }
}

void store_results(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens) {
  for (int row = 0; row < tokens * args.group; ++row) {
    float* out = args.out + (first + row / args.group) * args.out_token_stride +
                 row % args.group * args.out_head_stride;
    const float sum = layout.result_sum(row);
    const float* result = layout.result(row);
    for (int i = 0; i < args.head_dim; ++i) out[i] = sum == 0 ? 0.0f : result[i] / sum;
  }
}

// Decode: the logits of one segment, keys stored as T.
template <class T>
void decode_keys(const SlotAttentionArgs& args, const Layout& layout, int segment) {
  const int n = slots_in_segment(args.slots(), segment);
  const auto keys = with_prefetch(segment_rows<T>(args.k, layout.padded(), segment));
  ScaleTable table;
  for (int s = 0; s < n; s += kBlock) {
    const int end = std::min(s + kBlock, n);
    dots(layout.query(0), args.group, keys.opened(s, end, table), s, end, layout.probs(segment, 0));
  }
}

// Decode: the weighted values of one segment, values stored as T.
template <class T>
void decode_values(const SlotAttentionArgs& args, const Layout& layout, int segment) {
  const int n = slots_in_segment(args.slots(), segment);
  const auto values = with_prefetch(segment_rows<T>(args.v, layout.padded(), segment));
  ScaleTable table;
  for (int s = 0; s < n; s += kBlock) {
    const int end = std::min(s + kBlock, n);
    weigh_values(layout.probs(segment, 0), args.group, values.opened(s, end, table), s, end, layout.partial(segment, 0));
  }
}

// Rows [begin, end) of a segment as f32: the rows themselves, or a decoded copy. Indexed from 0.
Rows<float> f32_rows(const RowsView& view, int padded, int segment, int begin, int end, float* copy) {
  if (view.type == RowType::kF32) return segment_rows<float>(view, padded, segment, begin);
  with_elements(view.type, [&](auto element) HWY_ATTR {
    const F32 d;
    const auto rows = segment_rows<typename decltype(element)::Type>(view, padded, segment, begin);
    ScaleTable table;
    const auto opened = rows.opened(0, end - begin, table);
    for (int s = 0; s < end - begin; ++s) {
      const auto row = opened.row(s);
      for (int i = 0; i < padded; i += kLanes) hn::StoreU(row.load(d, i, row.scale(d, i)), d, copy + s * padded + i);
    }
  });
  return {reinterpret_cast<const std::byte*>(copy), padded * sizeof(float), padded};
}

// One segment for `tokens` tokens from `first`, causal: each token stops at its own last slot. A block of
// rows is decoded once and stays in L1 while all tokens pass over it.
void prefill_segment(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens,
                     int segment) {
  const int padded = layout.padded(), group = args.group;
  const auto seen = [&](int t) { return slots_in_segment(visible_slots(args, first + t), segment); };
  const int n = seen(tokens - 1);
  for (int s = 0; s < n; s += kBlock) {
    const auto keys = f32_rows(args.k, padded, segment, s, std::min(s + kBlock, n), layout.rows());
    for (int t = 0; t < tokens; ++t) {
      const int end = std::min(kBlock, seen(t) - s);
      if (end > 0) dots(layout.query(t * group), group, keys, 0, end, layout.probs(segment, t * group) + s);
    }
  }
  for (int t = 0; t < tokens; ++t) segment_softmax(args, layout, first + t, t * group, segment);
  for (int s = 0; s < n; s += kBlock) {
    const auto values = f32_rows(args.v, padded, segment, s, std::min(s + kBlock, n), layout.rows());
    for (int t = 0; t < tokens; ++t) {
      const int row = t * group, end = std::min(kBlock, seen(t) - s);
      if (end > 0)
        weigh_values(layout.probs(segment, row) + s, group, values, 0, end, layout.partial(segment, row));
    }
  }
  for (int row = 0; row < tokens * group; ++row) fold(layout, segment, row);
}

void prefill(const SlotAttentionArgs& args, const Layout& layout) {
  for (int first = 0; first < args.tokens; first += layout.tile_tokens()) {
    const int tokens = std::min(layout.tile_tokens(), args.tokens - first);
    load_queries(args, layout, first, tokens);
    const int segments = (visible_slots(args, first + tokens - 1) + kSegment - 1) / kSegment;
    for (int segment = 0; segment < segments; ++segment)
      prefill_segment(args, layout, first, tokens, segment);
    store_results(args, layout, first, tokens);
    add_mass(args, layout, first, tokens);
  }
}

void Prepare(const SlotAttentionArgs& args, float* scratch) {
  load_queries(args, Layout(args, scratch), 0, 1);
}

void Segment(const SlotAttentionArgs& args, int segment, float* scratch) {
  note_simd_target(HWY_TARGET);
  const Layout layout(args, scratch);
  with_elements(args.k.type, [&](auto element) HWY_ATTR {
    decode_keys<typename decltype(element)::Type>(args, layout, segment);
  });
  segment_softmax(args, layout, 0, 0, segment);
  with_elements(args.v.type, [&](auto element) HWY_ATTR {
    decode_values<typename decltype(element)::Type>(args, layout, segment);
  });
}

void Finish(const SlotAttentionArgs& args, float* scratch) {
  const Layout layout(args, scratch);
  for (int segment = 0; segment < args.segments(); ++segment) {
    for (int row = 0; row < args.group; ++row) fold(layout, segment, row);
  }
  store_results(args, layout, 0, 1);
  add_mass(args, layout, 0, 1);
}

void Run(const SlotAttentionArgs& args, float* scratch) {
  if (args.tokens > 1) {
    note_simd_target(HWY_TARGET);
    prefill(args, Layout(args, scratch));
    return;
  }
  Prepare(args, scratch);
  for (int segment = 0; segment < args.segments(); ++segment) Segment(args, segment, scratch);
  Finish(args, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(Prepare);
HWY_EXPORT(Segment);
HWY_EXPORT(Finish);
HWY_EXPORT(Run);

void slot_attention(const SlotAttentionArgs& args, std::span<float> scratch) {
  HWY_DYNAMIC_DISPATCH(Run)(args, scratch.data());
}

void prepare(const SlotAttentionArgs& args, std::span<float> scratch) {
  HWY_DYNAMIC_DISPATCH(Prepare)(args, scratch.data());
}

void segment(const SlotAttentionArgs& args, int index, std::span<float> scratch) {
  HWY_DYNAMIC_DISPATCH(Segment)(args, index, scratch.data());
}

void finish(const SlotAttentionArgs& args, std::span<float> scratch) {
  HWY_DYNAMIC_DISPATCH(Finish)(args, scratch.data());
}

}  // namespace vase::kernels::fused
#endif
