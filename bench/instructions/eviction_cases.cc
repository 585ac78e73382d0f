#include <cmath>
#include <memory>
#include <numeric>
#include <span>

#include "base/philox_draws.h"
#include "cache/slot_cache.h"
#include "instructions/counted_case.h"
#include "kernels/leverage/leverage.h"
#include "kernels/top_k/top_k.h"
#include "kernels/value_range/value_range.h"
#include "kernels/weighted_draw/weighted_draw.h"
#include "micro/eviction_heads.h"

namespace vase::bench {
namespace {

using Heads = EvictionHeads;
using Call = std::function<void()>;

// Policy::plan for one head.
Call whole_eviction(const std::string& preset) {
  struct State {
    Heads heads{1};
    Policy policy;
    PolicyScratch scratch;
    std::vector<uint32_t> kept = std::vector<uint32_t>(Heads::kKept);
  };
  const auto state = std::make_shared<State>(State{.policy = Policy::parse(preset)});
  return [state] {
    PhiloxDraws draws({.seed = 1});
    state->policy.plan(state->heads.view(state->policy.needs(), 0), draws, state->scratch, state->kept);
  };
}

Call sketch() {
  constexpr int kColumns = 20;  // as many as vase-dkv takes
  struct State {
    Heads heads{1};
    std::vector<float> gaussian =
        made_up_floats(size_t(Heads::kHeadDim) * kColumns + kernels::kSketchTail, 1);
    std::vector<float> energy = std::vector<float>(Heads::kCandidates);
  };
  const auto state = std::make_shared<State>();
  return [state] {
    kernels::sketched_energy(kernels::Path::kFused, state->heads.view({}, 0).keys, state->gaussian, kColumns,
                             state->energy);
  };
}

Call value_range() {
  constexpr size_t kRows = 64;
  struct State {
    std::vector<float> rows = made_up_floats(kRows * Heads::kHeadDim, 1);
    std::vector<float> ranges = std::vector<float>(kRows);
  };
  const auto state = std::make_shared<State>();
  return [state] {
    for (size_t i = 0; i < kRows; ++i) {
      const std::span<const float> row(state->rows.data() + i * Heads::kHeadDim, Heads::kHeadDim);
      state->ranges[i] = kernels::value_magnitude(kernels::Magnitude::kRange, row);
    }
  };
}

// What top_k and weighted_draw choose among.
struct Contest {
  std::vector<float> scores = made_up_floats(Heads::kCandidates, 1),
                     exponentials = made_up_floats(Heads::kCandidates, 2);
  std::vector<int32_t> positions = std::vector<int32_t>(Heads::kCandidates);
  std::vector<uint32_t> pool = std::vector<uint32_t>(Heads::kCandidates);
  std::vector<double> keys = std::vector<double>(Heads::kCandidates);

  Contest() {
    std::iota(positions.begin(), positions.end(), 0);
    for (float& x : scores) x = std::fabs(x);
    for (float& x : exponentials) x = std::fabs(x) + 1e-6f;
  }
  void fill_pool() { std::iota(pool.begin(), pool.end(), 0); }
};

Call top_k() {
  const auto contest = std::make_shared<Contest>();
  return [contest] {
    contest->fill_pool();
    kernels::top_k(contest->scores, contest->positions, contest->pool, Heads::kCandidates / 4, false);
  };
}

Call weighted_draw() {
  const auto contest = std::make_shared<Contest>();
  return [contest] {
    contest->fill_pool();
    kernels::weighted_draw(contest->scores, contest->exponentials, contest->positions, contest->pool,
                           Heads::kCandidates / 4, false, contest->keys);
  };
}

// Every second candidate of the older half leaves; the rows at the end fill their places. Each call takes
// another head.
Call compaction() {
  struct State {
    SlotCache cache{{.layers = 1,
                     .kv_heads = 2,
                     .head_dim = Heads::kHeadDim,
                     .capacity = Heads::kSlots,
                     .needs = {.attention = AttentionRecord::kWindowSum, .value_range = true}},
                    false};
    CompactionScratch scratch{Heads::kSlots};
    std::vector<uint32_t> kept;
    int next = 0;
  };
  const auto state = std::make_shared<State>();
  const std::vector<float> row = made_up_floats(Heads::kHeadDim, 1);
  for (int head = 0; head < 2; ++head) {
    for (int j = 0; j < Heads::kSlots; ++j) state->cache.head(0, 0, head).append(j, row.data(), row.data());
  }
  for (uint32_t j = 0; j < Heads::kCandidates; ++j) {
    if (j >= Heads::kCandidates / 2 || j % 2 == 0) state->kept.push_back(j);
  }
  return [state] {
    state->cache.head(0, 0, state->next++).apply({state->kept, Heads::kCandidates}, state->scratch);
  };
}

}  // namespace

std::vector<CountedCase> eviction_cases() {
  return {{"eviction_vase-attnv", [] { return whole_eviction("vase-attnv"); }},
          {"eviction_vase-dkv", [] { return whole_eviction("vase-dkv"); }},
          {"sketch", sketch},
          {"value_range", value_range},
          {"top_k", top_k},
          {"weighted_draw", weighted_draw},
          {"compaction", compaction}};
}

}  // namespace vase::bench
