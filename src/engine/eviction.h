// One eviction: shows the policy the candidates of a head, or of the heads that share what they keep, in logical order,
// and applies the plan to the cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/philox_draws.h"
#include "cache/slot_cache.h"
#include "engine/head_blocks.h"
#include "engine/sequence.h"
#include "vase/engine.h"
#include "vase/options.h"
#include "vase/policy.h"

namespace vase {

// What stays the same for every eviction of an engine.
struct EvictionSetup {
  const Policy* policy = nullptr;
  std::vector<int> budgets;    // [layers] M
  int buffer = 0;              // R
  int group = 1;               // G
  Positions positions = Positions::kText;
  Rope rope = {};              // of the model; for policies that need it, and for Positions::kCache

  int keep(int layer) const { return budgets[layer] - buffer; }  // K
};

// Metadata of one head's candidates, in logical order, and rows of all slots; only what the policy needs has room.
struct GatheredHead {
  // slots: the most that a head can use.
  GatheredHead(const CacheShape& shape, int candidates, int slots);
  static size_t bytes_for(const CacheShape& shape, int candidates, int slots);
  size_t bytes() const;

  std::vector<int32_t> positions;
  std::vector<float> attention, value_range, norm_product, log_weight;
  std::vector<int32_t> last_use, longest_gap;
  // [slot][padded head_dim] decoded; empty when rows have one type or are not looked at all at once.
  std::vector<float> keys, values;
  HeadBlocks blocks;
};

// Memory of one thread; nothing is allocated while evicting.
struct EvictionScratch {
  // candidates: the most that an eviction can see; heads: the most that share what they keep.
  EvictionScratch(const CacheShape& shape, const EvictionSetup& setup, int candidates, int heads);
  static size_t bytes_for(const CacheShape& shape, const EvictionSetup& setup, int candidates, int heads);
  size_t bytes() const;

  PolicyScratch policy;
  CompactionScratch compaction;
  std::vector<uint32_t> kept;
  std::vector<float> turn, row;        // of keys that move up (Positions::kCache)
  std::vector<GatheredHead> gathered;  // [heads], and so the rest
  std::vector<HeadView> views;
  std::vector<PhiloxDraws> draws;
  std::vector<RandomDraws*> draw_pointers;
  std::chrono::nanoseconds scoring_time{0}, compaction_time{0};  // spent so far
};

struct HeadOf {
  int layer = 0, kv_head = 0;
  HeadSlots slots;
};

// What one eviction is about.
struct EvictionEvent {
  const Sequence* sequence = nullptr;
  int64_t seen = 0;         // tokens seen
  int candidates = 0;       // C: the first slots in logical order
  int next_candidates = 0;  // C of the next eviction
};

// `heads` evict alike, and have equal budgets; most often it is one. Appends the kept positions of each, in logical
// order, to `records` when it is given. When a part of the policy throws, the newest K candidates are kept and the
// exception goes on to the caller.
void evict_heads(const EvictionSetup& setup, const EvictionEvent& event, std::span<const HeadOf> heads,
                 EvictionScratch& scratch, std::vector<EvictionRecord>* records);

}  // namespace vase
