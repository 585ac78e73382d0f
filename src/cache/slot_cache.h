// Static KV storage for all layers and sequences, and the bookkeeping of one KV head at a time.
//
// Rows: [layer][sequence][kv_head][slot][padded head_dim], keys and values apart, slots [0, used) dense. Metadata per
// slot: position, logical order, and (only when a policy needs them) value range and attention mass.
// The cache stores and compacts; what to keep is decided elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_buffer.h"
#include "vase/policy.h"
#include "vase/rows.h"

namespace vase {

struct CacheShape {
  int layers = 0, kv_heads = 0, head_dim = 0;
  int sequences = 1;
  int capacity = 0;  // slots per layer, sequence and KV head
  RowType key_type = RowType::kF16;
  RowType value_type = RowType::kF16;
  PolicyNeeds needs;

  size_t key_row() const { return row_element_bytes(key_type) * padded_row(head_dim); }      // bytes
  size_t value_row() const { return row_element_bytes(value_type) * padded_row(head_dim); }  // bytes
  size_t metadata() const { return 8 + (needs.value_range ? 4 : 0) + (needs.attention != AttentionRecord::kNone ? 4 : 0); }  // bytes per slot
  size_t heads() const { return size_t(layers) * sequences * kv_heads; }
};

// Memory that one thread needs to compact a head.
struct CompactionScratch {
  explicit CompactionScratch(int capacity) : occupied(capacity), order(capacity) {}
  std::vector<uint8_t> occupied;  // [capacity] by slot
  std::vector<uint32_t> order;    // [capacity] the new logical order
};

class SlotCache;

// Handle to the slots of one (layer, sequence, KV head). Cheap to copy. Heads are independent: different threads may
// work on different heads at the same time.
class HeadSlots {
 public:
  int used() const;
  int evictions() const;

  // Stores one token in the next free slot. k, v: head_dim floats. The head must not be full.
  void append(int32_t position, const float* k, const float* v);

  RowsView keys() const;    // by slot
  RowsView values() const;  // by slot
  // Slots in logical order: ascending position, or the gather order of the last eviction followed by newer tokens.
  std::span<const uint32_t> order() const;
  int32_t position(uint32_t slot) const;
  float value_range(uint32_t slot) const;     // only when the cache keeps it
  std::span<float> attention() const;         // [capacity] mass by slot; empty when the cache does not keep it

  // Keeps the candidates with logical indices `kept` (distinct, < candidates) and everything behind the candidates;
  // frees the rest. Afterwards used = kept.size() + (used - candidates), the logical order is `kept` followed by the
  // former tail, and the attention mass is 0. Only rows beyond the new end move: they fill the holes.
  void apply(std::span<const uint32_t> kept, int candidates, CompactionScratch& scratch);

 private:
  friend class SlotCache;
  HeadSlots(SlotCache& cache, size_t head) : cache_(&cache), head_(head) {}
  void move_row(uint32_t from, uint32_t to);

  SlotCache* cache_;
  size_t head_;
};

class SlotCache {
 public:
  // Allocates everything. poison: free rows hold NaN, so that reading one shows at once.
  SlotCache(const CacheShape& shape, bool poison);

  const CacheShape& shape() const { return shape_; }
  HeadSlots head(int layer, int sequence, int kv_head);
  void clear(int sequence);
  size_t bytes() const;  // as allocated

 private:
  friend class HeadSlots;
  void poison_rows(size_t head, int first, int last);

  CacheShape shape_;
  bool poison_;
  HugeBuffer keys_, values_, metadata_;
  std::span<int32_t> positions_;     // [heads][capacity]
  std::span<uint32_t> order_;        // [heads][capacity]
  std::span<float> value_range_;     // [heads][capacity] or empty
  std::span<float> attention_;       // [heads][capacity] or empty
  std::vector<int> used_, evictions_;  // [heads]
};

}  // namespace vase
