#include "end_to_end/decode_rig.h"

#include <algorithm>
#include <random>
#include <string>

#include "engine/model_shape.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

// A context that was asked for stays; without one it is as large as the run needs. Throws Error(kUsage) when
// the run does not fit.
EnginePlan plan_with_room(const model::HParams& hparams, const Policy& policy, CacheOptions cache,
                          const EngineOptions& engine, int reach) {
  if (cache.context == 0) cache.context = policy.evicts() ? std::max(kDefaultContext, reach) : reach;
  EnginePlan plan = plan_engine(shape_of(hparams), policy, cache, engine);
  if (plan.context < reach) {
    throw Error(ErrorCode::kUsage, "'" + policy.text() + "' allows " + std::to_string(plan.context) +
                                       " positions here, the timed run reaches " + std::to_string(reach) +
                                       "; use a larger --ctx or --kv-budget-mb, or fewer --tokens");
  }
  return plan;
}

}  // namespace

DecodeRig::DecodeRig(std::shared_ptr<const model::Weights> weights, const Policy& policy,
                     const CacheOptions& cache, const EngineOptions& engine, int depth, int steps)
    : weights_(std::move(weights)),
      policy_(policy),
      rope_(model::rope_table(*weights_)),
      plan_(plan_with_room(weights_->hparams(), policy_, cache, engine, depth + steps).with_rope(rope_.view())),
      cache_(plan_.cache, false),
      attention_(make_attention(cache_, plan_)),
      forward_(weights_, {.threads = plan_.attention.threads,
                          .max_tokens = engine.sequences,
                          .max_outputs = engine.sequences}),
      sequences_(engine.sequences) {
  for (int i = 0; i < engine.sequences; ++i) {
    sequences_[i].slot = i;
    sequences_[i].stream = i;
    sequences_[i].prompt_tokens = 1;
    spans_.push_back({&sequences_[i], i, 1});
  }
  tokens_.resize(engine.sequences);
  positions_.resize(engine.sequences);
  outputs_.resize(engine.sequences);
  fill(depth);
}

// The counters move as if the tokens had been generated; the rows that would be left are random, newest last.
void DecodeRig::fill(int depth) {
  for (Sequence& s : sequences_) plan_.attention.schedule.advance(s, depth);
  const CacheShape& shape = plan_.cache;
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  std::vector<float> pool(size_t(shape.head_dim) * 4099);
  for (float& x : pool) x = normal(rng);
  size_t at = 0;
  const auto next_row = [&] {
    at = (at + shape.head_dim) % (pool.size() - shape.head_dim);
    return pool.data() + at;
  };
  for (int layer = 0; layer < shape.layers; ++layer) {
    for (const Sequence& s : sequences_) {
      for (int h = 0; h < shape.kv_heads; ++h) {
        HeadSlots head = cache_.head(layer, s.slot, h);
        const int used = plan_.attention.schedule.held(s, layer, s.seen).used;
        for (int i = 0; i < used; ++i) {
          const int64_t position = i < 4 ? i : s.seen - used + i;
          const float* k = next_row();
          head.append(static_cast<int32_t>(position), k, next_row());
        }
      }
    }
  }
  for (const Sequence& s : sequences_) attention_->adopt_rows(s);
}

void DecodeRig::step() {
  const int vocabulary = weights_->hparams().vocabulary;
  for (size_t i = 0; i < sequences_.size(); ++i) {
    tokens_[i] = static_cast<int32_t>((steps_done_ * 7919 + i * 104729) % vocabulary);
    positions_[i] = static_cast<int32_t>(sequences_[i].seen);
    outputs_[i] = static_cast<int32_t>(i);
  }
  attention_->begin_step(spans_);
  forward_.run({tokens_, positions_, outputs_}, *attention_);
  attention_->end_step();
  for (Sequence& s : sequences_) plan_.attention.schedule.advance(s, 1);
  ++steps_done_;
}

}  // namespace vase::bench
