#include "end_to_end/rig.h"

#include <algorithm>
#include <string>
#include <thread>

#include "engine/model_shape.h"
#include "model/key_offsets.h"
#include "synthetic/normals.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

constexpr size_t kPoolRows = 4099;  // a prime, so that heads get different rows

model::ForwardOptions forward_options(const EnginePlan& plan, const EngineOptions& engine,
                                      const Reach& reach) {
  return {.threads = plan.attention.threads,
          .max_tokens = reach.prompts ? std::max(engine.sequences, engine.chunk) : engine.sequences,
          .max_outputs = engine.sequences};
}

}  // namespace

EnginePlan plan_rig(const ModelShape& shape, const Policy& policy, CacheOptions cache,
                    const EngineOptions& engine, const Reach& reach) {
  const int end = reach.depth + reach.tokens;
  if (cache.context == 0) cache.context = policy.evicts() ? std::max(kDefaultContext, end) : end;
  EnginePlan plan = plan_engine(shape, policy, cache, engine);
  if (plan.context < end) {
    throw Error(ErrorCode::kUsage, "'" + policy.text() + "' allows " + std::to_string(plan.context) +
                                       " positions here, the timed run reaches " + std::to_string(end) +
                                       "; use a larger --ctx or --kv-budget-mb, or fewer tokens");
  }
  return plan;
}

uint64_t rig_compute_bytes(std::shared_ptr<const model::Weights> weights, const EnginePlan& plan,
                           const EngineOptions& engine, const Reach& reach) {
  return model::Forward(std::move(weights), forward_options(plan, engine, reach)).compute_bytes();
}

Rig::Rig(std::shared_ptr<const model::Weights> weights, const Policy& policy, const CacheOptions& cache,
         const EngineOptions& engine, const Reach& reach)
    : weights_(std::move(weights)),
      policy_(policy),
      engine_(engine),
      depth_(reach.depth),
      rope_(model::rope_table(*weights_)),
      plan_(plan_rig(shape_of(weights_->hparams()), policy_, cache, engine, reach).with_rope(rope_.view())),
      cache_(plan_.cache, false),
      attention_(make_attention(cache_, plan_)),
      forward_(weights_, forward_options(plan_, engine, reach)),
      pool_(normals(plan_.cache.head_dim * kPoolRows, 1)),
      sequences_(engine.sequences) {
  if (is_quantised(plan_.cache.key_type)) cache_.set_key_offsets(model::key_offsets(*weights_, rope_.view()));
}

void Rig::start() {
  fill(std::max(depth_ - 1, 0));
  step();
  if (depth_ == 0) fill(0);
}

// The counters move as if the tokens had been generated; the rows that would be left are random, newest last.
void Rig::fill(int depth) {
  for (int i = 0; i < engine_.sequences; ++i) {
    cache_.clear(i);
    sequences_[i] = {.slot = i, .stream = static_cast<uint32_t>(i), .prompt_tokens = 1};
    plan_.attention.schedule.advance(sequences_[i], depth);
  }
  const int threads = plan_.attention.threads;
  std::vector<std::jthread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([this, t, threads] {
      for (int layer = t; layer < plan_.cache.layers; layer += threads) fill_layer(layer);
    });
  }
  workers.clear();
  for (const Sequence& s : sequences_) attention_->adopt_rows(s);
}

void Rig::fill_layer(int layer) {
  const CacheShape& shape = plan_.cache;
  size_t at = size_t(layer) * 31;
  const auto next_row = [&] { return pool_.data() + ++at % kPoolRows * shape.head_dim; };
  for (const Sequence& s : sequences_) {
    const int used = plan_.attention.schedule.held(s, layer, s.seen).used;
    for (int h = 0; h < shape.kv_heads; ++h) {
      HeadSlots head = cache_.head(layer, s.slot, h);
      for (int i = 0; i < used; ++i) {
        const auto position = static_cast<int32_t>(i < 4 ? i : s.seen - used + i);
        const float* k = next_row();
        if (head.recent_room() == 0) head.settle(plan_.attention.stay);
        head.append(position, k, next_row());
      }
      const auto queries = static_cast<int>(std::min<int64_t>(shape.needs.queries, s.seen));
      for (int i = 0; i < queries; ++i) {
        const size_t first = ++at % (kPoolRows - shape.group);  // a row for each query head of the group
        head.push_queries(static_cast<int32_t>(s.seen - queries + i), pool_.data() + first * shape.head_dim);
      }
    }
  }
}

int Rig::next_slots() const {
  const Sequence& s = sequence();
  int64_t used = 0;
  for (int layer = 0; layer < plan_.cache.layers; ++layer) used += plan_.attention.schedule.held(s, layer, s.seen).used;
  const int slots = static_cast<int>(used / plan_.cache.layers) + 1;
  return plan_.memory.read > 0 ? std::min(slots, plan_.memory.read) : slots;
}

void Rig::read_prompts(int tokens, const std::function<void(int)>& on_chunk) {
  for (Sequence& s : sequences_) s.prompt_tokens = static_cast<int>(s.seen) + tokens;
  // Heads that share what they keep evict at the end of a step.
  const auto fit = [&](int sequence, int wanted) {
    if (policy_.share == Share::kHead) return wanted;
    return plan_.attention.schedule.next_run(sequences_[sequence], wanted).tokens;
  };
  for (PromptChunks chunks(engine_.sequences, tokens); !chunks.done(); on_chunk(chunks.finished())) {
    spans_.clear();
    outputs_.clear();
    int next = 0;
    for (const PromptPart& part : chunks.next(engine_.chunk, fit)) {
      spans_.push_back({&sequences_[part.sequence], next, part.tokens});
      next += part.tokens;
      if (part.last) outputs_.push_back(next - 1);
    }
    run();
  }
}

void Rig::step() {
  spans_.clear();
  outputs_.clear();
  for (int i = 0; i < engine_.sequences; ++i) {
    spans_.push_back({&sequences_[i], i, 1});
    outputs_.push_back(i);
  }
  run();
}

void Rig::run() {
  const int64_t vocabulary = weights_->hparams().vocabulary;
  tokens_.clear();
  positions_.clear();
  for (const Span& span : spans_) {
    for (int i = 0; i < span.tokens; ++i) {
      const int64_t position = span.sequence->seen + i;
      positions_.push_back(static_cast<int32_t>(position));
      tokens_.push_back(static_cast<int32_t>((position * 7919 + span.sequence->slot * 104729) % vocabulary));
    }
  }
  attention_->begin_step(spans_);
  forward_.run({tokens_, positions_, outputs_}, *attention_);
  attention_->end_step();
  attention_->rethrow_error();
  for (const Span& span : spans_) {
    plan_.attention.schedule.advance(sequences_[span.sequence->slot], span.tokens);
  }
}

}  // namespace vase::bench
