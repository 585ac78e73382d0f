// What a cache costs, before any of it is allocated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "vase/export.h"
#include "vase/model.h"
#include "vase/options.h"

namespace vase {

// bytes() = layers * kv_heads * ((capacity - recent) * (key_row + value_row)
//                                + recent * (recent_key_row + recent_value_row)
//                                + capacity * metadata + query_ring) * sequences + unused + summaries + scratch
struct VASE_API MemoryPlan {
  int layers = 0, kv_heads = 0;
  int sequences = 1;
  int budget = 0;           // M, slots; the mean, when layers differ
  int first_budget = 0;     // M of the first layer
  int last_budget = 0;      // M of the last layer, never more than that of another
  int buffer = 0;           // R, slots
  int period = 0;           // tokens from one eviction to the next
  int capacity = 0;         // slots that exist per layer, KV head and sequence; exactly the mean, when layers differ
  RowType key_type = RowType::kF16;    // of the rows that are not among the newest; chosen, with auto_types
  RowType value_type = RowType::kF16;
  int key_row = 0;          // bytes
  int value_row = 0;        // bytes
  int recent = 0;           // of these slots, those whose rows are not quantised yet; 0 without quantised types
  int recent_key_row = 0;   // bytes of such a row
  int recent_value_row = 0; // bytes
  uint64_t unused = 0;      // bytes at the ends of strips that no slot uses, all heads together
  int metadata = 0;         // bytes per slot
  uint64_t query_ring = 0;  // bytes of newest queries per layer, KV head and sequence; 0 for most policies
  int read = 0;             // tokens read per step and head by a policy that reads a part; 0 = all that are held
  uint64_t summaries = 0;   // bytes that such a policy keeps about its blocks, all together
  uint64_t scratch = 0;     // bytes for attention and eviction, all threads together

  uint64_t bytes_per_slot() const {  // one slot in every layer and KV head, quantised if it ever is
    return uint64_t(layers) * kv_heads * (key_row + value_row + metadata);
  }
  // What so many recent slots of one sequence take beyond that.
  uint64_t recent_bytes(int64_t slots) const {
    const int64_t more = int64_t(recent_key_row) + recent_value_row - key_row - value_row;
    return uint64_t(layers) * kv_heads * slots * more;
  }
  // What one sequence holds with so many slots used: keys, values, metadata, queries.
  uint64_t sequence_bytes(int64_t slots) const {
    return bytes_per_slot() * slots + recent_bytes(std::min<int64_t>(slots, recent)) + query_ring * layers * kv_heads;
  }
  uint64_t query_bytes() const { return query_ring * layers * kv_heads * sequences; }
  uint64_t bytes() const {
    return sequence_bytes(capacity) * sequences + unused + summaries + scratch;
  }
  // Slots as (kept + period), with those of the first and last layer when they differ; a term for the queries where
  // there are any: "30 layers x 3 KV heads x 320 slots (256 + 64) x (128 K + 128 V + 16 meta) B x 1 sequence + 0.1 MiB
  // scratch = 7.6 MiB"
  std::string formula() const;
};

// The smallest M that works with the policy and the options in every layer of the model.
VASE_API int smallest_budget(const ModelShape& shape, const Policy& policy, const CacheOptions& cache);

// Solves budget_mib for M when it is set. Throws Error(kUsage) naming the smallest budget that works.
VASE_API MemoryPlan plan_memory(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                                const EngineOptions& engine);

// The options with what their megabytes decide written out: both types, and M, or the context for a policy that never
// evicts. plan: plan_memory() of the same arguments. A cache of these options is the same cache.
VASE_API CacheOptions decided(const CacheOptions& cache, const Policy& policy, const MemoryPlan& plan);

}  // namespace vase
