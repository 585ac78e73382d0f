// Positions without gaps (StreamingLLM, arXiv 2309.17453; docs/policies.md 4.8).
//
// Attention sees positions through differences alone, so instead of rotating every key by its index in the cache at
// every step, the keys that stay are turned forward, once per eviction, by the number of evicted tokens behind them.
#pragma once

#include <span>

#include "cache/slot_cache.h"
#include "vase/head_view.h"

namespace vase {

// Before head.apply(plan), with kept candidates in ascending position. turn, row: [head_dim] scratch. The row is turned
// in f32 and stored in its own type again, so f16 rows drift a little with every eviction (docs/layouts.md).
void close_gaps(const Rope& rope, const KeepPlan& plan, HeadSlots head, std::span<float> turn, std::span<float> row);

}  // namespace vase
