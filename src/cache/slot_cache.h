// Static KV storage for all layers and sequences, and the bookkeeping of one KV head at a time.
//
// Rows: [layer][sequence][kv_head][slot], keys and values apart. Without quantised types the slots [0, used) are dense;
// rows are encoded when a token comes in, and move as they are. With them a head's slots lie in two parts
// (row_store.h), each dense from its begin: tokens come into the recent one and leave it for the older one when it is
// full (settle) or when they are kept by an eviction; then they are quantised, once. The recent part is chronological.
// Metadata per slot: position, logical order, and (only when a policy needs them) value range, a record of attention
// and a log-weight. Per head, when a policy needs them: a ring of the newest queries, which does not grow with the
// slots. The cache stores and compacts; what to keep is decided elsewhere.
#pragma once

#include <climits>
#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_buffer.h"
#include "cache/row_store.h"
#include "vase/policy.h"
#include "vase/rows.h"

namespace vase {

// Whether a record is a sum or a largest value over the queries since the last eviction, which clears it.
inline bool is_window(AttentionRecord record) {
  return record == AttentionRecord::kWindowSum || record == AttentionRecord::kWindowSquares ||
         record == AttentionRecord::kWindowMax;
}

// Whether a record is one number per slot.
inline bool is_number(AttentionRecord record) {
  return is_window(record) || record == AttentionRecord::kLifetimeSum;
}

struct CacheShape {
  int layers = 0, kv_heads = 0, head_dim = 0;
  int group = 1;  // G, of the query ring
  int sequences = 1;
  int capacity = 0;  // slots per layer, sequence and KV head; the most, when layers differ
  std::vector<int> layer_capacity = {};  // [layers] when layers differ, else empty
  RowType key_type = RowType::kF16;
  RowType value_type = RowType::kF16;
  int recent = 0;  // with a quantised type: slots of the recent part, at least 1; the others are the older one's
  PolicyNeeds needs;

  bool two_parts() const { return is_quantised(key_type) || is_quantised(value_type); }
  HeadRoom room_of(int layer) const {
    return two_parts() ? HeadRoom{capacity_of(layer) - recent, recent} : HeadRoom{0, capacity_of(layer)};
  }
  size_t key_row() const { return row_bytes(key_type, head_dim); }  // bytes, of an older slot when there are two parts
  size_t value_row() const { return row_bytes(value_type, head_dim); }  // bytes
  size_t metadata() const;                                                                   // bytes per slot
  // Bytes of keys and values that no slot uses: strips have 16 slots.
  size_t unused_bytes() const;
  size_t query_ring() const { return sizeof(float) * needs.queries * group * head_dim; }     // bytes per head
  size_t heads() const { return size_t(layers) * sequences * kv_heads; }
  int capacity_of(int layer) const { return layer_capacity.empty() ? capacity : layer_capacity[layer]; }
};

// Memory that one thread needs to compact a head.
struct CompactionScratch {
  explicit CompactionScratch(int capacity) : occupied(capacity), order(capacity) {}
  std::vector<uint8_t> occupied;  // [capacity] by slot
  std::vector<uint32_t> order;    // [capacity] the new logical order
};

// What one eviction of one head does.
struct KeepPlan {
  std::span<const uint32_t> kept;  // logical indices of candidates, distinct
  int candidates = 0;              // the first ones in logical order; what is behind them stays
  // The first so many in the new logical order end up in the slots [0, next_candidates): those that the next period's
  // attention is to be shared among. Slots below it hold candidates alone now, or it is at least the number that stays.
  // With two parts that is so whatever it is: all older tokens and the first recent ones.
  int next_candidates = INT_MAX;
  std::span<const float> log_weight = {};  // [candidates] what each will carry; empty: as before
};

class SlotCache;

// Handle to the slots of one (layer, sequence, KV head). Cheap to copy. Heads are independent: different threads may
// work on different heads at the same time.
class HeadSlots {
 public:
  const CacheShape& shape() const;
  int used() const { return older_used() + recent_used(); }
  int older_used() const;   // in the slots from 0 on; 0 without quantised types
  int recent_used() const;  // in the slots from recent_begin() on
  int recent_begin() const;
  int recent_room() const;  // tokens that can be appended before the recent part must settle
  int evictions() const;

  // Quantises the oldest recent tokens into older slots, until `stay` remain or the older part is full.
  void settle(int stay);
  // Stores one token in the next free recent slot, its records as at birth. k, v: head_dim floats. There must be room.
  void append(int32_t position, const float* k, const float* v);
  // Stores the queries of the token at a position in the ring, in place of the oldest. q: [group][head_dim]. Only when
  // the cache keeps queries.
  void push_queries(int32_t position, const float* q);

  // Row i is slot recent_begin() + i: of all slots when there are no quantised types.
  RowsView recent_keys() const;
  RowsView recent_values() const;
  kernels::PartRows older_keys() const;  // by slot
  kernels::PartRows older_values() const;
  // Decodes the row of any slot. out: head_dim floats.
  void read_key(uint32_t slot, float* out) const;
  void read_value(uint32_t slot, float* out) const;
  // Those of the slots [first, last), used ones of one part, slot s to + (s - first) * stride, in floats. first: of the older
  // part a multiple of kStripSlots.
  void read_keys(int first, int last, float* out, size_t stride) const;
  void read_values(int first, int last, float* out, size_t stride) const;
  // All of them, slot s to + s * stride; free slots are left out.
  void read_keys(float* out, size_t stride) const;
  void read_values(float* out, size_t stride) const;
  // Slots in logical order: ascending position, or the gather order of the last eviction followed by newer tokens.
  std::span<const uint32_t> order() const;
  int32_t position(uint32_t slot) const;
  std::span<const int32_t> positions() const;  // [capacity] by slot
  // What the older keys are stored without; null: nothing.
  const kernels::KeyOffset* key_offset() const;
  // [capacity] by slot; empty when the cache does not keep it.
  std::span<const float> value_range() const;
  std::span<const float> norm_product() const;
  std::span<float> attention() const;       // of every record but kRecurrence
  std::span<int32_t> last_use() const;      // of kRecurrence
  std::span<int32_t> longest_gap() const;   // of kRecurrence
  std::span<const float> log_weight() const;
  // The queries of the newest of `seen` tokens, all of which have been pushed.
  QueriesView queries(int64_t seen) const;

  // Replaces a key row. k: head_dim floats.
  void set_key(uint32_t slot, const float* k);
  // Keeps plan.kept and everything behind the candidates; frees the rest. Afterwards the logical order is `kept`
  // followed by the former tail, and window records of attention are 0; everything else goes with its token. Only rows
  // that lie beyond the end of their part move: they fill the holes. With two parts what is kept lies in the older one
  // afterwards, and the tail, which must be recent, at the begin of the recent one.
  void apply(const KeepPlan& plan, CompactionScratch& scratch);

 private:
  friend class SlotCache;
  HeadSlots(SlotCache& cache, size_t head) : cache_(&cache), head_(head) {}
  void move_row(uint32_t from, uint32_t to);
  void move_key(uint32_t from, uint32_t to);
  void place_in_one_part(std::span<uint32_t> survivors, uint32_t next_candidates, CompactionScratch& scratch);
  void place_in_two_parts(std::span<uint32_t> kept, std::span<uint32_t> tail, CompactionScratch& scratch);
  void clear_window(int older, int recent);
  // Moves the slots of `part` that are outside of [low, high) into it.
  void gather(std::span<uint32_t> part, uint32_t low, uint32_t high, std::span<uint8_t> occupied);
  template <typename T>
  std::span<T> own(std::span<T> all) const;  // this head's part of metadata
  size_t begin() const;                      // of its slots among those of all heads

  SlotCache* cache_;
  size_t head_;
};

class SlotCache {
 public:
  // Allocates everything. poison: free rows hold NaN, so that reading one shows at once.
  SlotCache(const CacheShape& shape, bool poison);
  // What quantised keys are stored without, for each [layer][KV head]; empty: nothing. Before any token comes in.
  void set_key_offsets(std::vector<kernels::KeyOffset> offsets) { key_offsets_ = std::move(offsets); }

  const CacheShape& shape() const { return shape_; }
  HeadSlots head(int layer, int sequence, int kv_head);
  void clear(int sequence);
  size_t bytes() const;  // as allocated

 private:
  friend class HeadSlots;
  void poison_rows(size_t head, int first, int last);

  CacheShape shape_;
  std::vector<size_t> begin_;  // [heads + 1] where each head's slots begin, counted in slots of all heads
  bool poison_;
  RowStore keys_, values_;
  HugeBuffer metadata_, queries_;
  std::vector<kernels::KeyOffset> key_offsets_;  // [layers][kv_heads] or empty
  std::span<int32_t> positions_;  // [slots of all heads]
  std::span<uint32_t> order_;     // the same
  // the same or empty:
  std::span<float> value_range_, norm_product_, attention_, log_weight_;
  std::span<int32_t> last_use_, longest_gap_;
  std::vector<HeadRoom> rooms_;               // [heads]
  std::vector<HeadRoom> used_;                // [heads]
  std::vector<int> evictions_;                // [heads]
};

}  // namespace vase
