// Drives EvictingAttention with made-up q, k, v instead of a model, on as many threads as asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "cache/slot_cache.h"
#include "engine/engine_plan.h"
#include "engine/evicting_attention.h"
#include "vase/options.h"

namespace vase::test {

// One sequence's inputs, a pure function of (stream, position, layer): q, k, v as a model could give them. `what` is 0,
// 1 or 2 for q, k or v.
struct FakeModel {
  ModelShape shape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 32, .trained_context = 1 << 14};
  // Rows of one's own, [heads x head_dim], in place of the made-up ones.
  std::function<std::vector<float>(int64_t position, int what)> own_rows = {};

  std::vector<float> row(uint32_t stream, int64_t position, int layer, int what, int width) const {
    if (own_rows) return own_rows(position, what);
    uint64_t state = ((stream * 1000003ull + position) * 131 + layer) * 7 + what;
    std::vector<float> x(width);
    for (float& v : x) {  // the sum of four uniforms: close to normal, and cheap
      v = 0;
      for (int i = 0; i < 4; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        v += static_cast<float>(state >> 40) * 0x1p-24f - 0.5f;
      }
      v *= 1.7f;
    }
    if (what == 2 && position % 17 == 3) x[position % width] *= 6;  // some values have a large range
    return x;
  }
};

class Driver {
 public:
  Driver(const FakeModel& fake, const std::string& policy, const CacheOptions& cache, const EngineOptions& options)
      : Driver(fake, Policy::parse(policy), cache, options) {}
  Driver(const FakeModel& fake, Policy policy, const CacheOptions& cache, const EngineOptions& options, Rope rope = {})
      : fake_(fake),
        policy_(std::move(policy)),
        plan_(plan_engine(fake.shape, policy_, cache, options).with_rope(rope)),
        cache_(plan_.cache, options.poison_free_rows),
        attention_(cache_, plan_.attention),
        dense_(cache.prefill == Prefill::kDense) {}

  Sequence start(int slot, uint32_t stream, int prompt_tokens, uint64_t evict_seed = 1) {
    cache_.clear(slot);
    return {.slot = slot, .evict_seed = evict_seed, .stream = stream, .prompt_tokens = prompt_tokens,
            .dense_prefill = dense_};
  }

  // Feeds `counts[i]` tokens to sequences[i] in one step; returns the outputs of the last layer,
  // [sequence][token][query head][head_dim].
  std::vector<std::vector<float>> step(std::vector<Sequence*> sequences, const std::vector<int>& counts) {
    const int d = fake_.shape.head_dim, hq = fake_.shape.query_heads, hkv = fake_.shape.kv_heads;
    std::vector<Span> spans;
    int tokens = 0;
    for (size_t i = 0; i < sequences.size(); ++i) {
      spans.push_back({sequences[i], tokens, counts[i]});
      tokens += counts[i];
    }
    before();
    attention_.begin_step(spans);
    after();
    std::vector<float> q, k, v, out(size_t(tokens) * hq * d);
    for (int layer = 0; layer < fake_.shape.layers; ++layer) {
      q.clear(), k.clear(), v.clear();
      for (const Span& span : spans) {
        for (int t = 0; t < span.tokens; ++t) {
          const auto add = [&](std::vector<float>& to, int what, int width) {
            const auto row = fake_.row(span.sequence->stream, span.sequence->seen + t, layer, what, width);
            to.insert(to.end(), row.begin(), row.end());
          };
          add(q, 0, hq * d);
          add(k, 1, hkv * d);
          add(v, 2, hkv * d);
        }
      }
      const int threads = plan_.attention.threads;
      std::vector<std::thread> workers;
      for (int ith = 0; ith < threads; ++ith) {
        workers.emplace_back([&, ith] {
          before();
          attention_.attend({layer, tokens, q.data(), k.data(), v.data(), out.data(), ith, threads});
          after();
        });
      }
      for (std::thread& w : workers) w.join();
    }
    before();
    attention_.end_step();
    after();
    std::vector<std::vector<float>> outputs;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const size_t first = size_t(spans[i].first) * hq * d;
      outputs.emplace_back(out.begin() + first, out.begin() + first + size_t(counts[i]) * hq * d);
      plan_.attention.schedule.advance(*sequences[i], counts[i]);
    }
    return outputs;
  }

  // Called around the attention's own work, on the thread that does it.
  std::function<void()> before = [] {}, after = [] {};

  HeadSlots head(int layer, int slot, int kv_head) { return cache_.head(layer, slot, kv_head); }
  std::vector<int32_t> kept(int layer, int slot, int kv_head) {
    HeadSlots h = head(layer, slot, kv_head);
    std::vector<int32_t> positions;
    for (uint32_t s : h.order()) positions.push_back(h.position(s));
    return positions;
  }
  EvictingAttention& attention() { return attention_; }
  SlotCache& cache() { return cache_; }
  const EnginePlan& plan() const { return plan_; }
  const FakeModel& fake() const { return fake_; }

 private:
  FakeModel fake_;
  Policy policy_;
  EnginePlan plan_;
  SlotCache cache_;
  EvictingAttention attention_;
  bool dense_;
};

}  // namespace vase::test
