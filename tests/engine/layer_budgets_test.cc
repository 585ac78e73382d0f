// Budgets that fall from layer to layer: their numbers, and that a layer does what it would do alone.
#include "engine/layer_budgets.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "engine/attention_driver.h"
#include "engine/engine_helpers.h"
#include "engine/probe_policy.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"
#include "vase/memory.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;

// K = 35: the last of five layers keeps 5, and the rest rises by 15 from layer to layer.
CacheOptions pyramid(LayerBudgets layers = LayerBudgets::kPyramid) {
  return {.budget = 51, .buffer = 16, .period = 11, .layer_budgets = layers, .pyramid_beta = 7};
}

FakeModel five_layers() {
  FakeModel fake;
  fake.shape.layers = 5;
  return fake;
}

std::vector<int> budgets(int layers, int budget, int buffer, float beta) {
  return budgets_of_layers({.buffer = buffer, .layer_budgets = LayerBudgets::kPyramid, .pyramid_beta = beta}, layers,
                           budget);
}

TEST(LayerBudgets, WorkedByHand) {
  // K = 64, last 64 / 20 = 3: 61 more and less at the ends, a third of that, 20.3, inside.
  EXPECT_EQ(budgets(4, 80, 16, 20), (std::vector{141, 100, 60, 19}));
  // K = 22, last 11: 11 and 5.5, which is rounded away from the middle on both sides.
  EXPECT_EQ(budgets(5, 30, 8, 2), (std::vector{41, 36, 30, 24, 19}));
  EXPECT_EQ(budgets(5, 51, 16, 7), (std::vector{81, 66, 51, 36, 21}));
  EXPECT_EQ(budgets(1, 80, 16, 20), (std::vector{80}));
  EXPECT_EQ(budgets(3, 80, 16, 1), (std::vector{80, 80, 80}));
  EXPECT_EQ(budgets_of_layers({.buffer = 16}, 3, 80), (std::vector{80, 80, 80}));
}

TEST(LayerBudgets, TheSumIsExactAndTheFallLinear) {
  std::mt19937 rng(3);
  for (int round = 0; round < 2000; ++round) {
    const int layers = 2 + static_cast<int>(rng() % 79), buffer = 1 + static_cast<int>(rng() % 200);
    const int keep = 1 + static_cast<int>(rng() % 5000);
    const float beta = 1 + static_cast<float>(rng() % 400) / 8;
    const std::vector<int> all = budgets(layers, buffer + keep, buffer, beta);
    EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0), layers * (buffer + keep));
    const int last = static_cast<int>(keep / static_cast<double>(beta));
    EXPECT_EQ(all.back(), buffer + last);
    for (int layer = 0; layer < layers; ++layer) {
      const double line = all.front() - 2.0 * (keep - last) * layer / (layers - 1);
      EXPECT_LE(std::abs(all[layer] - line), 0.5);
    }
  }
}

TEST(LayerBudgets, TheSmallestMeanIsTheSmallest) {
  for (const char* name : {"random", "vase-attnv", "streaming"}) {
    for (const float beta : {1.0f, 2.0f, 2.3f, 7.7f, 20.0f}) {
      const Policy policy = Policy::parse(name);
      const CacheOptions cache{.buffer = 16, .layer_budgets = LayerBudgets::kPyramid, .pyramid_beta = beta};
      const int smallest = smallest_mean_budget(policy, cache, 6);
      EXPECT_GE(budgets(6, smallest, 16, beta).back(), policy.smallest_budget(16));
      EXPECT_LT(budgets(6, smallest - 1, 16, beta).back(), policy.smallest_budget(16));
    }
  }
}

TEST(LayerBudgets, EveryLayerFollowsItsOwnFormula) {
  Driver driver(five_layers(), "random", pyramid(), {.threads = 2, .poison_free_rows = true});
  Sequence s = driver.start(0, 0, 1);
  for (int t = 1; t <= 300; ++t) {
    driver.step({&s}, {1});
    int used = 0, evictions = 0;
    for (int layer = 0; layer < 5; ++layer) {
      const int m = 81 - 15 * layer;
      HeadSlots head = driver.head(layer, 0, 1);
      ASSERT_EQ(head.used(), t < m + 11 ? t : m + (t - m) % 11);
      ASSERT_EQ(head.evictions(), t < m + 11 ? 0 : 1 + (t - m - 11) / 11);
      used += head.used();
      evictions += head.evictions();
      const auto kept = driver.kept(layer, 0, 1);
      for (int i = 1; i <= std::min(16, t); ++i) ASSERT_EQ(kept[kept.size() - i], t - i) << "a newest token was lost";
    }
    ASSERT_EQ(s.used, used / 5);
    ASSERT_EQ(s.evictions, (evictions + 4) / 5);
    ASSERT_EQ(s.first_eviction, t < 21 + 11 ? 0 : 21 + 11);
  }
}

// Layer by layer the same positions, draws included, as a cache in which every layer has this budget. Every part of an
// eviction that depends on the budget shows here. Chunks of any size, threads that share slots, NaN in free rows.
TEST(LayerBudgets, ALayerDoesWhatItWouldDoAlone) {
  for (const char* name :
       {"vase-attnv", "vase-dkv", "curdkv", "snapkv", "snapkv-decode", "vase-attnv-weighted", "r-kv", "h2o", "caote",
        "lazy-eviction", "keydiff", "lagkv", "streaming", "random-prompt", "attn-value"}) {
    std::vector<std::vector<int32_t>> want;
    std::vector<float> want_out;
    for (int layer = 0; layer < 5; ++layer) {
      CacheOptions alone = pyramid(LayerBudgets::kUniform);
      alone.budget = 81 - 15 * layer;
      Driver driver(five_layers(), name, alone, {.threads = 1});
      Sequence s = driver.start(0, 3, 8);
      for (int t = 0; t < 130; ++t) want_out = driver.step({&s}, {1})[0];
      for (int h = 0; h < 2; ++h) want.push_back(driver.kept(layer, 0, h));
    }
    for (const auto& [chunk, threads] : {std::pair{1, 1}, {1, 3}, {7, 2}, {130, 2}}) {
      Driver driver(five_layers(), name, pyramid(), {.threads = threads, .poison_free_rows = true});
      Sequence s = driver.start(0, 3, 8);
      std::vector<float> out;
      for (int t = 0; t < 130; t += chunk) out = driver.step({&s}, {std::min(chunk, 130 - t)})[0];
      const size_t one = want_out.size();  // the last layer's output for the last token
      EXPECT_EQ(std::vector<float>(out.end() - one, out.end()), want_out) << name << ", chunk " << chunk;
      for (int i = 0; i < 10; ++i) EXPECT_EQ(driver.kept(i / 2, 0, i % 2), want[i]) << name << ", chunk " << chunk;
    }
  }
}

TEST(LayerBudgets, PlannedBytesAreAllocatedBytes) {
  const ModelShape shape{.layers = 5, .query_heads = 8, .kv_heads = 2, .head_dim = 80, .trained_context = 4096};
  const auto log = std::make_shared<test::ProbeLog>();
  for (const Policy& policy : {Policy::parse("vase-attnv"), Policy::parse("vase-dkv"),
                               test::probe_policy({.attention = AttentionRecord::kRecurrence, .queries = 9}, log)}) {
    for (const LayerBudgets layers : {LayerBudgets::kUniform, LayerBudgets::kPyramid}) {
      CacheOptions options = pyramid(layers);
      options.positions = policy.needs().value_range ? Positions::kCache : Positions::kText;
      const EnginePlan plan = plan_engine(shape, policy, options, {.sequences = 3, .threads = 2});
      SlotCache cache(plan.cache, false);
      EvictingAttention attention(cache, plan.attention);
      EXPECT_EQ(cache.bytes() + attention.scratch_bytes(), plan.memory.bytes());
      EXPECT_EQ(cache.bytes(), plan.memory.bytes_per_slot() * 62 * 3 + plan.memory.query_bytes());
    }
  }
}

TEST(LayerBudgets, MegabytesAreSolvedFor) {
  const ModelShape shape{.layers = 30, .query_heads = 9, .kv_heads = 3, .head_dim = 64};
  const Policy policy = Policy::parse("vase-attnv");
  CacheOptions cache{.budget_mib = 12, .layer_budgets = LayerBudgets::kPyramid};
  const MemoryPlan plan = plan_memory(shape, policy, cache, {.threads = 2});
  EXPECT_LE(plan.bytes(), 12u << 20);
  EXPECT_EQ(plan.last_budget, 64 + (plan.budget - 64) / 20);
  EXPECT_EQ(plan.first_budget + plan.last_budget, 2 * plan.budget);
  cache.budget_mib = 0;
  cache.budget = plan.budget + 1;
  EXPECT_GT(plan_memory(shape, policy, cache, {.threads = 2}).bytes(), 12u << 20)
      << "a larger budget would have fitted";
  cache.budget = 264;
  const std::string formula = plan_memory(shape, policy, cache, {.threads = 2}).formula();
  EXPECT_NE(formula.find("328 slots (264 + 64; mean of 518 in the first layer to 138 in the last)"), std::string::npos)
      << formula;
  cache.budget_mib = 1;
  EXPECT_THROW(plan_memory(shape, policy, cache, {.threads = 2}), Error);
}

TEST(LayerBudgets, WhatIsRefused) {
  const ModelShape shape{.layers = 4, .query_heads = 4, .kv_heads = 2, .head_dim = 32};
  const auto expect_refused = [&](const char* policy, CacheOptions cache, const std::string& word) {
    cache.layer_budgets = LayerBudgets::kPyramid;
    try {
      plan_memory(shape, Policy::parse(policy), cache, {.threads = 1});
      ADD_FAILURE() << "accepted, though " << word;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  expect_refused("random", {.prefill = Prefill::kDense, .max_prompt = 9}, "prefill = evict");
  expect_refused("random", {.budget = 128, .prefill = Prefill::kDense, .max_prompt = 9, .trigger = Trigger::kParity},
                 "prefill");
  expect_refused("tova", {}, "share=head");
  expect_refused("random", {.pyramid_beta = 0.5f}, "beta");
  expect_refused("random", {.pyramid_beta = 1001}, "beta");
  expect_refused("vase-attnv", {.budget = 163}, "leaves 68 slots to the last layer");
  expect_refused("vase-attnv", {.budget = 163}, "the smallest budget that works here is 164");
  EXPECT_EQ(
      plan_memory(shape, Policy::parse("vase-attnv"), {.budget = 164, .layer_budgets = LayerBudgets::kPyramid}, {})
          .last_budget,
      69);
  EXPECT_EQ(smallest_budget(shape, Policy::parse("vase-attnv"), {.layer_budgets = LayerBudgets::kPyramid}), 164);
}

// Through the engine: chunks and neighbours change nothing; the counters are means of what the log says.
TEST(LayerBudgets, EngineCountsMeans) {
  const test::TinyModel file{test::TinyOptions{.layers = 3, .query_heads = 6, .kv_heads = 3, .head_dim = 32}};
  const auto model = Model::load(file.path());
  std::vector<int32_t> want;
  std::vector<std::vector<int32_t>> want_kept;
  for (const auto& [chunk, sequences] : {std::pair{1, 1}, {24, 1}, {256, 3}}) {
    Engine engine(
        model, Policy::parse("vase-attnv"), pyramid(),
        {.sequences = sequences, .threads = 2, .chunk = chunk, .poison_free_rows = true, .log_evictions = true});
    test::Listener listener;
    for (int i = 1; i < sequences; ++i) engine.submit(test::tiny_text(20 + 50 * i, 30 + i), test::options(60, i, i));
    const auto session = engine.submit(test::tiny_text(110, 5), test::options(60));
    test::run_all(engine, listener);
    const Counters c = session->counters();
    // 169 tokens; budgets 81, 51, 21.
    const int evictions = (1 + (169 - 92) / 11) + (1 + (169 - 62) / 11) + (1 + (169 - 32) / 11);
    EXPECT_EQ(session->evictions().size(), static_cast<size_t>(evictions) * 3);
    EXPECT_EQ(c.evictions, (evictions + 2) / 3);
    EXPECT_EQ(c.slots_used, (81 + (169 - 81) % 11 + 51 + (169 - 51) % 11 + 21 + (169 - 21) % 11) / 3);
    EXPECT_EQ(c.evicted, c.tokens_seen - c.slots_used);
    EXPECT_EQ(c.first_eviction, 32);
    if (want.empty()) {
      want = test::tokens_of(*session);
      want_kept = test::kept_of(*session);
    }
    EXPECT_EQ(test::tokens_of(*session), want) << "chunk " << chunk;
    EXPECT_EQ(test::kept_of(*session), want_kept) << "chunk " << chunk;
  }
}

TEST(LayerBudgets, WithoutSlopeItIsUniform) {
  const test::TinyModel file{test::TinyOptions{.layers = 3, .query_heads = 6, .kv_heads = 3, .head_dim = 32}};
  const auto model = Model::load(file.path());
  std::vector<int32_t> tokens[2];
  std::vector<std::vector<int32_t>> kept[2];
  uint64_t bytes[2];
  for (const int i : {0, 1}) {
    CacheOptions cache = pyramid(i == 0 ? LayerBudgets::kUniform : LayerBudgets::kPyramid);
    cache.pyramid_beta = 1;
    Engine engine(model, Policy::parse("vase-attnv"), cache, {.threads = 2, .log_evictions = true});
    test::Listener listener;
    const auto session = engine.submit(test::tiny_text(110, 5), test::options(60));
    test::run_all(engine, listener);
    tokens[i] = test::tokens_of(*session);
    kept[i] = test::kept_of(*session);
    bytes[i] = engine.memory().bytes();
    EXPECT_EQ(session->counters().evictions, 1 + (169 - 62) / 11);
  }
  EXPECT_EQ(tokens[0], tokens[1]);
  EXPECT_EQ(kept[0], kept[1]);
  EXPECT_EQ(bytes[0], bytes[1]);
}

}  // namespace
}  // namespace vase
