// Our engine's decode step with caches that are filled at once instead of by generating: what a benchmark
// times.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/slot_cache.h"
#include "engine/engine_plan.h"
#include "model/forward.h"
#include "model/rope.h"
#include "vase/options.h"

namespace vase::bench {

class DecodeRig {
 public:
  // depth: tokens that every sequence has seen; steps: how many decode steps there must be room for. Throws
  // Error(kUsage) when the context does not hold them.
  DecodeRig(std::shared_ptr<const model::Weights> weights, const Policy& policy, const CacheOptions& cache,
            const EngineOptions& engine, int depth, int steps);

  // One token for every sequence.
  void step();
  const EnginePlan& plan() const { return plan_; }

 private:
  void fill(int depth);

  std::shared_ptr<const model::Weights> weights_;
  Policy policy_;
  model::RopeTable rope_;
  EnginePlan plan_;
  SlotCache cache_;
  std::unique_ptr<StepAttention> attention_;
  model::Forward forward_;
  std::vector<Sequence> sequences_;
  std::vector<Span> spans_;
  std::vector<int32_t> tokens_, positions_, outputs_;
  uint64_t steps_done_ = 0;
};

}  // namespace vase::bench
