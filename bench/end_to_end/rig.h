// Our engine's steps with caches that are filled at once instead of by generating: what a benchmark times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cache/slot_cache.h"
#include "end_to_end/prompt_chunks.h"
#include "engine/engine_plan.h"
#include "model/forward.h"
#include "model/rope.h"
#include "vase/options.h"

namespace vase::bench {

// Tokens that every sequence has seen when a timed piece begins, and how many the longest piece adds.
struct Reach {
  int depth = 0;
  int tokens = 1;
  bool prompts = false;  // pieces may be prompts, whose chunks need larger buffers
};

// The plan of a rig. A context that was asked for stays; without one it is as large as the pieces need.
// Throws Error(kUsage) when they do not fit.
EnginePlan plan_rig(const ModelShape& shape, const Policy& policy, CacheOptions cache,
                    const EngineOptions& engine, const Reach& reach);

// Bytes that a rig takes for the forward pass, beside weights and cache. Makes the buffers to see.
uint64_t rig_compute_bytes(std::shared_ptr<const model::Weights> weights, const EnginePlan& plan,
                           const EngineOptions& engine, const Reach& reach);

class Rig {
 public:
  // engine.sequences: the batch. Throws as plan_rig() does, and Error(kResource).
  Rig(std::shared_ptr<const model::Weights> weights, const Policy& policy, const CacheOptions& cache,
      const EngineOptions& engine, const Reach& reach);

  // Back to the depth, with everything warm: the last token before it went through the model.
  void start();
  // Prompts of so many tokens for all sequences. on_chunk: after every batch, with how many sequences have
  // the logits that their first token is drawn from.
  void read_prompts(int tokens, const std::function<void(int finished)>& on_chunk);
  // One token for every sequence.
  void step();

  const EnginePlan& plan() const { return plan_; }
  // Of one sequence; all are alike.
  const Sequence& sequence() const { return sequences_[0]; }
  // Slots that a head attends over in the next step; the mean, when layers differ.
  int next_slots() const;
  // Whether any layer evicts in it.
  bool evicts_next() const { return plan_.attention.schedule.evicts_next(sequence()); }
  EvictionTimes eviction_times() const { return attention_->eviction_times(); }
  uint64_t compute_bytes() const { return forward_.compute_bytes(); }

 private:
  void fill(int depth);
  void fill_layer(int layer);
  void run();

  std::shared_ptr<const model::Weights> weights_;
  Policy policy_;
  EngineOptions engine_;
  int depth_;
  model::RopeTable rope_;
  EnginePlan plan_;
  SlotCache cache_;
  std::unique_ptr<StepAttention> attention_;
  model::Forward forward_;
  std::vector<float> pool_;  // random rows
  std::vector<Sequence> sequences_;
  // The step in hand.
  std::vector<Span> spans_;
  std::vector<int32_t> tokens_, positions_, outputs_;
};

}  // namespace vase::bench
