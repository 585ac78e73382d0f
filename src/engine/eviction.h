// One eviction of one head: shows the policy its candidates in logical order, and applies the plan to the cache.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/slot_cache.h"
#include "engine/sequence.h"
#include "vase/engine.h"
#include "vase/policy.h"

namespace vase {

// What stays the same for every eviction of an engine.
struct EvictionSetup {
  const Policy* policy = nullptr;
  int budget = 0, buffer = 0;  // M, R
  int group = 1;               // G
};

// Memory of one thread; nothing is allocated while evicting.
struct EvictionScratch {
  // candidates: the most that an eviction can see.
  EvictionScratch(int candidates, int capacity, int head_dim, int keep);
  static size_t bytes_for(int candidates, int capacity, int head_dim, int keep);
  size_t bytes() const;

  PolicyScratch policy;
  CompactionScratch compaction;
  std::vector<int32_t> positions;
  std::vector<float> attention, value_range;
  std::vector<uint32_t> kept;
};

// candidates: C, the first C slots in logical order. Appends the kept positions, in logical order, to `record` when it is
// given. When a part of the policy throws, the newest K candidates are kept and the exception goes on to the caller.
void evict_head(const EvictionSetup& setup, const Sequence& sequence, int layer, int kv_head, int candidates,
                HeadSlots head, EvictionScratch& scratch, std::vector<EvictionRecord>* record);

}  // namespace vase
