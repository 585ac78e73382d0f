// Turns options into sizes: everything that is checked and decided before memory is allocated.
#pragma once

#include "cache/slot_cache.h"
#include "engine/evicting_attention.h"
#include "vase/memory.h"

namespace vase {

inline constexpr int kMaxContext = 1 << 24;      // the largest range in which f32 tells all positions apart
inline constexpr int kDefaultContext = 1 << 20;

struct EnginePlan {
  MemoryPlan memory;
  CacheShape cache;
  AttentionSetup attention;  // points to the policy given to plan_engine(), which must outlive it
  int context = 0;           // positions that a sequence may reach
};

// Throws Error(kUsage): the value, what is allowed, the smallest budget that works.
EnginePlan plan_engine(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                       const EngineOptions& engine);

}  // namespace vase
