// Turns options into sizes: everything that is checked and decided before memory is allocated.
#pragma once

#include <memory>
#include <utility>

#include "cache/slot_cache.h"
#include "engine/evicting_attention.h"
#include "engine/reading_attention.h"
#include "vase/memory.h"

namespace vase {

inline constexpr int kMaxContext = 1 << 24;      // the largest range in which f32 tells all positions apart
inline constexpr int kDefaultContext = 1 << 20;

struct EnginePlan {
  MemoryPlan memory;
  CacheShape cache;
  AttentionSetup attention;  // points to the policy given to plan_engine(), which must outlive it
  ReadingSetup reading;      // so does this; with a reader it takes the place of `attention`, but for its schedule
  int context = 0;           // positions that a sequence may reach

  // How the model rotates; points to what must outlive the plan. For engines, which have a model.
  EnginePlan with_rope(const Rope& rope) && {
    attention.eviction.rope = reading.rope = rope;
    return std::move(*this);
  }
};

// Throws Error(kUsage): the value, what is allowed, the smallest budget that works.
EnginePlan plan_engine(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                       const EngineOptions& engine);

// What a plan's policy needs; the cache was made from the same plan.
std::unique_ptr<StepAttention> make_attention(SlotCache& cache, const EnginePlan& plan);

}  // namespace vase
