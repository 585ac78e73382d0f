// Where the fused path keeps what in the scratch of one head. Sizes and addresses come from the same walk.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/slot_attention/slot_attention.h"

namespace vase::kernels {

// Slots that a token of the run sees: [0, n), and all older ones.
inline int visible_slots(const SlotAttentionArgs& args, int token) { return args.slots_before + token + 1; }

// How many of the slots [0, n) lie in a segment.
inline int slots_in_segment(int slots, int segment) {
  return std::clamp(slots - segment * kSegment, 0, kSegment);
}

// Candidates that share the mass of one token: those that it sees, and all older ones.
inline int visible_candidates(const SlotAttentionArgs& args, int token) {
  return std::min(args.mass.candidates, visible_slots(args, token));
}

// A segment of the older slots or of the run's: its number among those.
struct SegmentPlace {
  bool older;
  int index;
  int first() const { return index * kSegment; }  // slot
};
inline SegmentPlace place_of(const SlotAttentionArgs& args, int segment) {
  const int older = args.older_segments();
  return segment < older ? SegmentPlace{true, segment} : SegmentPlace{false, segment - older};
}

// Slots of a segment that a token sees, and candidates among them.
inline int seen_in(const SlotAttentionArgs& args, int token, int segment) {
  const SegmentPlace place = place_of(args, segment);
  return slots_in_segment(place.older ? args.older.slots : visible_slots(args, token), place.index);
}
inline int candidates_in(const SlotAttentionArgs& args, int token, int segment) {
  const SegmentPlace place = place_of(args, segment);
  return slots_in_segment(place.older ? args.older.slots : visible_candidates(args, token), place.index);
}

// Segments of all older slots and of the first `own` of the run's.
inline int segments_up_to(const SlotAttentionArgs& args, int own) {
  return args.older_segments() + (own + kSegment - 1) / kSegment;
}

inline bool has_mass(const SlotAttentionArgs& args, int token) {
  return args.mass.wanted() && token >= args.mass.first_token;
}

// Slots that are worked on at a time; prefill holds their rows in L1 beside the queries of a tile.
inline constexpr int kBlock = 32;

// Floats from one row's logits to the next. Not a power of two: prefill writes many rows side by side, and
// equal addresses modulo 4 KiB would crowd into a few sets of the L1 cache.
inline constexpr int kProbStride = kSegment + 16;

// A run is handled in tiles of tokens; a query row is (token in tile, query head). Prefill shares each
// decoded row of keys and values among the query rows of a tile; decode has one token.
class Layout {
 public:
  // A null scratch is enough to ask for floats().
  Layout(const SlotAttentionArgs& args, float* scratch)
      : group_(args.group), padded_(padded_row(args.head_dim)) {
    const bool decode = args.tokens == 1;
    const bool mass = args.mass.wanted();
    const int with_mass = mass ? segments_up_to(args, args.mass.candidates) : 0;
    tile_tokens_ = std::clamp(tile_rows(args) / group_, 1, args.tokens);
    rows_ = tile_tokens_ * group_;
    partial_records_ = decode ? args.segments() : 1;
    prob_records_ = decode || mass ? args.segments() : 1;
    mass_records_ = mass && args.mass.temperature == 1 ? 1 : with_mass;

    size_t next = 0;
    const auto take = [&](size_t floats) {
      const size_t at = next;
      next += (floats + kAlign - 1) / kAlign * kAlign;
      return at;
    };
    const size_t rows = rows_, padded = padded_;
    query_ = take(rows * padded);
    result_ = take(rows * padded);
    result_max_ = take(rows);
    result_sum_ = take(rows);
    partial_ = take(partial_records_ * rows * padded);
    max_ = take(prob_records_ * rows);
    sum_ = take(prob_records_ * rows);
    probs_ = take(prob_records_ * rows * kProbStride);
    mass_max_ = take(with_mass * rows);
    mass_sum_ = take(with_mass * rows);
    mass_probs_ = take(mass_records_ * rows * kProbStride);
    block_ = take(decode ? 0 : kBlock * padded);
    floats_ = next + kAlign;
    if (scratch != nullptr) base_ = aligned(scratch);
  }

  size_t floats() const { return floats_; }
  int tile_tokens() const { return tile_tokens_; }
  int group() const { return group_; }
  int padded() const { return padded_; }

  // Rows of a token are `group` consecutive rows; `row` counts within the tile.
  float* query(int row) const { return base_ + query_ + size_t(row) * padded_; }
  float* result(int row) const { return base_ + result_ + size_t(row) * padded_; }
  float& result_max(int row) const { return base_[result_max_ + row]; }
  float& result_sum(int row) const { return base_[result_sum_ + row]; }

  // What one segment contributes: weighted values, maximum logit, and sum of exp(logit - maximum).
  float* partial(int segment, int row) const {
    return base_ + partial_ + (size_t(record(segment, partial_records_)) * rows_ + row) * padded_;
  }
  float& max(int segment, int row) const {
    return base_[max_ + record(segment, prob_records_) * rows_ + row];
  }
  float& sum(int segment, int row) const {
    return base_[sum_ + record(segment, prob_records_) * rows_ + row];
  }
  float* probs(int segment, int row) const {
    return base_ + probs_ + (size_t(record(segment, prob_records_)) * rows_ + row) * kProbStride;
  }

  // The same three over the candidates alone. Probabilities get a place of their own only where they differ
  // from those of attention: in the segment that the candidates end in, and everywhere when temperature is
  // not 1.
  float& mass_max(int segment, int row) const { return base_[mass_max_ + segment * rows_ + row]; }
  float& mass_sum(int segment, int row) const { return base_[mass_sum_ + segment * rows_ + row]; }
  float* mass_probs(int segment, int row) const {
    return base_ + mass_probs_ + (size_t(record(segment, mass_records_)) * rows_ + row) * kProbStride;
  }

  // One block of rows decoded to f32 (prefill).
  float* rows() const { return base_ + block_; }

 private:
  static constexpr size_t kAlign = 16;  // floats: one cache line
  static constexpr int kSmallSegments = 4, kSmallTileRows = 16, kTileRows = 64;

  // Few slots are soon decoded, and the memory of a large tile would be that of many of them.
  static int tile_rows(const SlotAttentionArgs& args) {
    return args.segments() <= kSmallSegments ? kSmallTileRows : kTileRows;
  }

  static float* aligned(float* p) {
    const size_t behind = reinterpret_cast<uintptr_t>(p) / sizeof(float) % kAlign;
    return behind == 0 ? p : p + (kAlign - behind);
  }

  static int record(int segment, int records) { return records == 1 ? 0 : segment; }

  int group_, padded_, tile_tokens_, rows_;
  int partial_records_, prob_records_, mass_records_;
  // Offsets from base_, in floats.
  size_t query_, result_, result_max_, result_sum_, partial_, max_, sum_, probs_;
  size_t mass_max_, mass_sum_, mass_probs_, block_;
  size_t floats_;
  float* base_ = nullptr;
};

// True where a token's mass over a segment cannot reuse the probabilities of attention.
inline bool mass_needs_own_probs(const SlotAttentionArgs& args, int token, int segment) {
  return args.mass.temperature != 1 || candidates_in(args, token, segment) < seen_in(args, token, segment);
}

}  // namespace vase::kernels
