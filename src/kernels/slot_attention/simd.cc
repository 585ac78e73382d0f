// Slot attention on Highway: decode by segments, prefill by tiles of tokens, and the fold that both share.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/slot_attention/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/key_offset/fused.h"
#include "kernels/simd_target.h"
#include "kernels/slot_attention/fused.h"
#include "kernels/slot_attention/layout.h"
#include "kernels/slot_attention/mass-inl.h"
#include "kernels/slot_attention/softmax-inl.h"
#include "kernels/slot_attention/tiles-inl.h"
#include "kernels/strips/fused.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

// A segment of strips is one product: whole strips, so that it begins with one (strip_dots) and what is written behind its last
// slot stays in the row of its logits, and no more slots than a sum takes.
static_assert(kSegment % kStripSlots == 0 && kSegment <= kStripSum);

// Ahead of use, in each of the two streams. 4 and 16 KiB are up to a tenth slower on a Xeon.
inline constexpr size_t kPrefetchBytes = 8 * 1024;

// Rows from a slot on.
template <class T>
Rows<T> rows_from(const RowsView& view, int padded, size_t slot) {
  return {static_cast<const std::byte*>(view.base) + slot * view.stride, view.stride, padded};
}

// Rows to come, in whole rows, so that a stride beyond the row's own bytes is skipped.
template <class T>
Rows<T> with_prefetch(Rows<T> rows) {
  rows.ahead = kPrefetchBytes / (rows.padded * sizeof(T)) * rows.stride;
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
  const int n = seen_in(args, token, segment);
  const bool mass = has_mass(args, token) && candidates_in(args, token, segment) > 0;
  const bool own_probs = mass && mass_needs_own_probs(args, token, segment);
  const SegmentPlace place = place_of(args, segment);
  const float* weights = place.older ? args.older.log_weight : args.log_weight;
  const float* log_weight = weights ? weights + place.first() : nullptr;
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

// Keys and values that a segment lies in.
PartRows keys_of(const SlotAttentionArgs& args, int segment) {
  return place_of(args, segment).older ? args.older.k : PartRows{args.k, {}};
}
PartRows values_of(const SlotAttentionArgs& args, int segment) {
  return place_of(args, segment).older ? args.older.v : PartRows{args.v, {}};
}

// What is read after the keys, and after the values, of a segment of older slots: its values, and the keys of the next one.
NextStrips values_next(const SlotAttentionArgs& args, int segment) {
  return {args.older.v.strips, place_of(args, segment).first()};
}
NextStrips keys_next(const SlotAttentionArgs& args, int segment) {
  if (!place_of(args, segment + 1).older) return {};
  return {args.older.k.strips, place_of(args, segment + 1).first()};
}

// Logits, and weighted values, of query rows [0, rows) over a segment of strips, all of whose slots every token sees.
void strip_keys(const SlotAttentionArgs& args, const Layout& layout, int segment, const Strips& keys, int rows) {
  const int first = place_of(args, segment).first(), slots = seen_in(args, 0, segment);
  float* const logits = layout.probs(segment, 0);
  strip_dots({.keys = keys,
              .first = first,
              .slots = slots,
              .queries = layout.query(0),
              .heads = rows,
              .logits = logits,
              .logit_stride = kProbStride,
              .next = values_next(args, segment)});
  if (!args.older.key_offset) return;
  add_offset_logits({.offset = args.older.key_offset,
                     .positions = args.older.positions + first,
                     .slots = slots,
                     .queries = layout.query(0),
                     .width = layout.padded(),
                     .heads = rows,
                     .logits = logits,
                     .logit_stride = kProbStride});
}

void strip_values(const SlotAttentionArgs& args, const Layout& layout, int segment, const Strips& values, int rows) {
  strip_sums({.values = values,
              .first = place_of(args, segment).first(),
              .slots = seen_in(args, 0, segment),
              .weights = layout.probs(segment, 0),
              .weight_stride = kProbStride,
              .heads = rows,
              .out = layout.partial(segment, 0),
              .next = keys_next(args, segment)});
}

// Decode: the logits of one segment, keys stored as T.
template <class T>
void decode_keys(const SlotAttentionArgs& args, const Layout& layout, int segment, const RowsView& view) {
  const int n = seen_in(args, 0, segment);
  const auto keys = with_prefetch(rows_from<T>(view, layout.padded(), place_of(args, segment).first()));
  dots(layout.query(0), args.group, keys, 0, n, layout.probs(segment, 0));
}

// Decode: the weighted values of one segment, values stored as T.
template <class T>
void decode_values(const SlotAttentionArgs& args, const Layout& layout, int segment, const RowsView& view) {
  const int n = seen_in(args, 0, segment);
  const auto values = with_prefetch(rows_from<T>(view, layout.padded(), place_of(args, segment).first()));
  weigh_values(layout.probs(segment, 0), args.group, values, 0, n, layout.partial(segment, 0));
}

// Rows [begin, end) of the slots as f32: the rows themselves, or a decoded copy. Indexed from 0.
Rows<float> f32_rows(const RowsView& view, int padded, int begin, int end, float* copy) {
  if (view.type == RowType::kF32) return rows_from<float>(view, padded, begin);
  with_elements(view.type, [&](auto element) HWY_ATTR {
    const F32 d;
    const auto rows = rows_from<typename decltype(element)::Type>(view, padded, begin);
    for (int s = 0; s < end - begin; ++s) {
      const auto row = rows.row(s);
      for (int i = 0; i < padded; i += kLanes) hn::StoreU(row.load(d, i), d, copy + s * padded + i);
    }
  });
  return {reinterpret_cast<const std::byte*>(copy), padded * sizeof(float), padded};
}

// Calls work(token, rows, s, end) for the tokens of a tile and the blocks of a segment: `rows` from slot s of the segment
// on, of which the token sees `end`. A block is decoded once and stays in L1 while all tokens pass over it.
template <class Work>
void for_blocks(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens, int segment, const RowsView& view,
                const Work& work) {
  const int n = seen_in(args, first + tokens - 1, segment), origin = place_of(args, segment).first();
  for (int s = 0; s < n; s += kBlock) {
    const auto rows = f32_rows(view, layout.padded(), origin + s, origin + std::min(s + kBlock, n), layout.rows());
    for (int t = 0; t < tokens; ++t) {
      const int end = std::min(kBlock, seen_in(args, first + t, segment) - s);
      if (end > 0) work(t, rows, s, end);
    }
  }
}

// One segment for `tokens` tokens from `first`, causal: each token stops at its own last slot.
void prefill_segment(const SlotAttentionArgs& args, const Layout& layout, int first, int tokens,
                     int segment) {
  const int group = args.group;
  const PartRows k = keys_of(args, segment), v = values_of(args, segment);
  if (k.in_strips()) {
    strip_keys(args, layout, segment, k.strips, tokens * group);
  } else {
    for_blocks(args, layout, first, tokens, segment, k.rows, [&](int t, const Rows<float>& keys, int s, int end) HWY_ATTR {
      dots(layout.query(t * group), group, keys, 0, end, layout.probs(segment, t * group) + s);
    });
  }
  for (int t = 0; t < tokens; ++t) segment_softmax(args, layout, first + t, t * group, segment);
  if (v.in_strips()) {
    strip_values(args, layout, segment, v.strips, tokens * group);
  } else {
    for_blocks(args, layout, first, tokens, segment, v.rows, [&](int t, const Rows<float>& values, int s, int end) HWY_ATTR {
      weigh_values(layout.probs(segment, t * group) + s, group, values, 0, end, layout.partial(segment, t * group));
    });
  }
  for (int row = 0; row < tokens * group; ++row) fold(layout, segment, row);
}

void prefill(const SlotAttentionArgs& args, const Layout& layout) {
  for (int first = 0; first < args.tokens; first += layout.tile_tokens()) {
    const int tokens = std::min(layout.tile_tokens(), args.tokens - first);
    load_queries(args, layout, first, tokens);
    const int segments = segments_up_to(args, visible_slots(args, first + tokens - 1));
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
  const PartRows k = keys_of(args, segment), v = values_of(args, segment);
  if (k.in_strips()) {
    strip_keys(args, layout, segment, k.strips, args.group);
  } else {
    with_elements(k.rows.type, [&](auto element) HWY_ATTR {
      decode_keys<typename decltype(element)::Type>(args, layout, segment, k.rows);
    });
  }
  segment_softmax(args, layout, 0, 0, segment);
  if (v.in_strips()) {
    strip_values(args, layout, segment, v.strips, args.group);
  } else {
    with_elements(v.rows.type, [&](auto element) HWY_ATTR {
      decode_values<typename decltype(element)::Type>(args, layout, segment, v.rows);
    });
  }
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
