// Types of rows that megabytes buy, against bytes worked out by hand.
#include "engine/row_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/engine_helpers.h"
#include "engine/engine_plan.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr double kMib = 1048576;
const ModelShape kShape{
    .layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 64, .trained_context = 4096};

std::string chosen(const MemoryPlan& plan) { return row_types_name(plan.key_type, plan.value_type); }

MemoryPlan automatic(const std::string& policy, double bytes, CacheOptions cache = {},
                     const ModelShape& shape = kShape) {
  cache.auto_types = true;
  cache.budget_mib = bytes / kMib;
  return plan_memory(shape, Policy::parse(policy), cache, {.threads = 1});
}

// What a cache of these types takes when nothing is left open.
MemoryPlan given(const std::string& policy, RowTypes types, CacheOptions cache = {}) {
  cache.key_type = types.key;
  cache.value_type = types.value;
  return plan_memory(kShape, Policy::parse(policy), cache, {.threads = 1});
}

std::string message_of(const std::string& policy, const CacheOptions& cache,
                       const ModelShape& shape = kShape) {
  try {
    plan_memory(shape, Policy::parse(policy), cache, {.threads = 1});
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    return e.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(ChooseTypes, TheFirstThatHoldsTheLongestText) {
  std::map<int, int64_t> held = {{0, 100}, {1, 190}, {2, 220}, {3, 350}};
  const auto look = [&](RowTypes types) {
    int i = 0;
    while (!(kAutoTypes[i] == types)) ++i;
    return held[i];
  };
  EXPECT_EQ(choose_types(kAutoTypes, 100, look), kAutoTypes[0]);
  EXPECT_EQ(choose_types(kAutoTypes, 101, look), kAutoTypes[1]);
  EXPECT_EQ(choose_types(kAutoTypes, 191, look), kAutoTypes[2]);
  EXPECT_EQ(choose_types(kAutoTypes, 221, look), kAutoTypes[3]);
  EXPECT_EQ(choose_types(kAutoTypes, 351, look), kAutoTypes[3]) << "the most when none holds all";
  held = {{0, 70}, {1, 80}, {2, 80}, {3, 60}};
  EXPECT_EQ(choose_types(kAutoTypes, 1000, look), kAutoTypes[1]) << "of equals the more precise";
  held = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  EXPECT_EQ(choose_types(kAutoTypes, 1000, look), kAutoTypes[0]);
}

TEST(ChooseTypes, WhatDoesNotGoTogetherIsLeftOut) {
  const Policy evicts = Policy::parse("random");
  EXPECT_EQ(usable_types(kShape, evicts, {}).size(), 4u);
  ModelShape odd = kShape;
  odd.head_dim = 80;  // no multiple of 32
  EXPECT_EQ(usable_types(odd, evicts, {}), std::vector<RowTypes>{kAutoTypes[0]});
  EXPECT_EQ(usable_types(kShape, evicts, {.positions = Positions::kCache}),
            std::vector<RowTypes>{kAutoTypes[0]});
  EXPECT_EQ(usable_types(kShape, Policy::parse("quest"), {}), std::vector<RowTypes>{kAutoTypes[0]});
}

// The full cache at 1000 tokens, in the 4 heads of 64 channels: 256 bytes a row pair of f16, 136 of q8_0, 104
// of q8_0 and q4_0, 72 of q4_0; 8 of metadata; the newest 72 in f16 in any case; strips of 16 slots.
TEST(AutoTypes, TheFullCacheTakesTheMostPreciseThatFits) {
  const int pair_bytes[] = {256, 136, 104, 72};
  const std::string names[] = {"f16", "q8_0", "q8_0,q4_0", "q4_0"};
  for (int i = 0; i < 4; ++i) {
    const MemoryPlan plan = given("full", kAutoTypes[i], {.context = 1000});
    const uint64_t rows = i == 0 ? 1000 * 256 : 928 * pair_bytes[i] + 72 * 256;
    EXPECT_EQ(plan.bytes(), 4 * (rows + 1000 * plan.metadata) + plan.unused + plan.scratch);
    EXPECT_EQ(plan.metadata, 8);
    EXPECT_EQ(chosen(automatic("full", plan.bytes(), {.context = 1000})), names[i]);
    const MemoryPlan less = automatic("full", plan.bytes() - 1.0, {.context = 1000});
    EXPECT_EQ(chosen(less), names[std::min(i + 1, 3)]);
    EXPECT_EQ(less.budget < 1000, i == 3) << "q4_0 with as much of the context as fits";
  }
}

TEST(AutoTypes, EvictingCachesTakeTheMostPreciseThatNeverEvicts) {
  // With M = 437 and a period of 64 the 501st token evicts.
  const CacheOptions text{.expected_tokens = 500};
  const auto bytes_at = [&](int types, int budget) {
    return static_cast<double>(given("random", kAutoTypes[types], {.budget = budget}).bytes());
  };
  const MemoryPlan enough = automatic("random", bytes_at(0, 437), text);
  EXPECT_EQ(chosen(enough), "f16");
  EXPECT_EQ(enough.budget, 437);
  const MemoryPlan less = automatic("random", bytes_at(0, 437) - 1, text);
  EXPECT_EQ(chosen(less), "q8_0");
  EXPECT_GT(less.budget, 437);
  EXPECT_LE(less.bytes(), bytes_at(0, 437) - 1);
  EXPECT_EQ(chosen(automatic("random", bytes_at(1, 437), text)), "q8_0");
  EXPECT_EQ(chosen(automatic("random", bytes_at(2, 437), text)), "q8_0,q4_0");
  EXPECT_EQ(chosen(automatic("random", bytes_at(3, 437), text)), "q4_0");
  const MemoryPlan none = automatic("random", bytes_at(3, 400), text);
  EXPECT_EQ(chosen(none), "q4_0");
  EXPECT_EQ(none.budget, given("random", kAutoTypes[3], {.budget_mib = bytes_at(3, 400) / kMib}).budget);
}

TEST(AutoTypes, TheContextIsTheLongestTextUnlessOneIsExpected) {
  const double bytes = static_cast<double>(given("random", kAutoTypes[0], {.budget = 437}).bytes());
  EXPECT_EQ(chosen(automatic("random", bytes, {.context = 500})), "f16");
  EXPECT_EQ(chosen(automatic("random", bytes, {.context = 501})), "q8_0");
  EXPECT_EQ(chosen(automatic("random", bytes, {.expected_tokens = 5000, .context = 500})), "f16");
  EXPECT_EQ(chosen(automatic("random", bytes)), "q4_0") << "a million positions";
}

TEST(AutoTypes, TheLayerWithTheFewestSlotsDecides) {
  CacheOptions cache{.layer_budgets = LayerBudgets::kPyramid, .pyramid_beta = 4};
  ModelShape deep = kShape;
  deep.layers = 4;
  cache.budget = 437;
  const auto plan = plan_memory(deep, Policy::parse("random"), cache, {.threads = 1});
  cache.expected_tokens = plan.last_budget + 63;
  EXPECT_EQ(chosen(automatic("random", static_cast<double>(plan.bytes()), cache, deep)), "f16");
  ++cache.expected_tokens;
  EXPECT_EQ(chosen(automatic("random", static_cast<double>(plan.bytes()), cache, deep)), "q8_0");
}

TEST(AutoTypes, ModelsWithoutBlocksAndReadersTakeHalfPrecision) {
  ModelShape odd = kShape;
  odd.head_dim = 80;
  EXPECT_EQ(chosen(automatic("random", 1 * kMib, {}, odd)), "f16");
  EXPECT_EQ(chosen(automatic("quest", 1 * kMib, {.budget = 128})), "f16");
}

TEST(AutoTypes, DecidedOptionsAreTheSameCache) {
  for (const char* policy : {"vase-attnv", "full"}) {
    const CacheOptions open{.budget_mib = 0.8, .auto_types = true, .expected_tokens = 3000};
    const Policy parsed = Policy::parse(policy);
    const MemoryPlan plan = plan_memory(kShape, parsed, open, {.threads = 1});
    const CacheOptions closed = decided(open, parsed, plan);
    EXPECT_FALSE(closed.auto_types);
    EXPECT_EQ(closed.budget_mib, 0);
    const MemoryPlan again = plan_memory(kShape, parsed, closed, {.threads = 1});
    EXPECT_EQ(again.formula(), plan.formula());
    EXPECT_EQ(again.bytes(), plan.bytes());
    EXPECT_EQ(chosen(again), chosen(plan));
  }
}

TEST(AutoTypes, RefusalsNameWhatWouldWork) {
  EXPECT_NE(message_of("random", {.auto_types = true}).find("budget in MiB"), std::string::npos);
  const std::string automatic_one = message_of("random", {.budget_mib = 0.01, .auto_types = true});
  const std::string typed = message_of("random", {.budget_mib = 0.01});
  for (const std::string& message : {automatic_one, typed}) {
    for (const char* word : {"0.01 MiB", "smallest", " f16 ", ", q8_0 ", ", q8_0,q4_0 ", ", q4_0 "}) {
      EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
    }
  }
  // The numbers work, and hundredths less do not.
  const double named = std::stod(automatic_one.substr(automatic_one.rfind("q4_0 ") + 5));
  const CacheOptions q4{.key_type = RowType::kQ4_0, .value_type = RowType::kQ4_0};
  EXPECT_GE(given("random", kAutoTypes[3], {.budget_mib = named}).budget,
            smallest_budget(kShape, Policy::parse("random"), q4));
  CacheOptions less = q4;
  less.budget_mib = named - 0.01;
  message_of("random", less);
  ModelShape odd = kShape;
  odd.head_dim = 80;
  EXPECT_EQ(message_of("random", {.budget_mib = 0.01}, odd).find("q8_0"), std::string::npos);
}

// The engine takes what the plan chose, and says the same as one that is told the types.
TEST(AutoTypes, TheEngineRunsOnWhatWasChosen) {
  const test::TinyModel file{{.layers = 8}};  // few layers have so few rows that scratch decides
  const auto model = Model::load(file.path());
  const Policy policy = Policy::parse("vase-attnv");
  const auto run = [&](const CacheOptions& cache) {
    Engine engine(model, policy, cache, {.threads = 1});
    const auto session = engine.submit(test::tiny_text(20), test::options(130));
    test::Listener listener;
    test::run_all(engine, listener);
    EXPECT_EQ(session->counters().evictions, 0);
    EXPECT_EQ(chosen(engine.memory()), "q8_0");
    return test::tokens_of(*session);
  };
  const CacheOptions told{
      .budget = 120, .buffer = 32, .key_type = RowType::kQ8_0, .value_type = RowType::kQ8_0};
  const double bytes = static_cast<double>(plan_memory(model->shape(), policy, told, {.threads = 1}).bytes());
  EXPECT_EQ(run({.budget_mib = bytes / kMib, .buffer = 32, .auto_types = true, .expected_tokens = 150}),
            run(told));
}

}  // namespace
}  // namespace vase
