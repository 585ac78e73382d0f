// Layers that evict at different steps: who evicts when, and that it changes nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/attention_driver.h"
#include "engine/row_settings.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;
using test::row_settings;
using test::RowSetting;

// All records of attention, a ring of queries, log-weights.
const char* const kPolicies[] = {"vase-attnv", "vase-dkv", "curdkv", "random-prompt", "score=attention:form=max", "h2o",
                                 "lazy-eviction", "r-kv-original", "vase-attnv-weighted", "snapkv-decode"};

CacheOptions options(bool stagger = true) { return {.budget = 48, .buffer = 16, .stagger = stagger}; }

FakeModel five_layers() {  // leads 0, 3, 6, 9, 12
  FakeModel fake;
  fake.shape.layers = 5;
  return fake;
}

// The first layer does what it does without stagger, draws included; of the others one at most evicts in a step.
TEST(Stagger, LayersEvictOneByOne) {
  for (const RowSetting& rows : row_settings(kPolicies)) {
    SCOPED_TRACE(rows.describe());
    Driver staggered(five_layers(), rows.policy, rows.with_types(options()),
                     {.threads = 2, .poison_free_rows = true, .log_evictions = true});
    Driver together(five_layers(), rows.policy, rows.with_types(options(false)), {.threads = 2});
    Sequence a = staggered.start(0, 0, 10), b = together.start(0, 0, 10);
    size_t evictions = 0;
    for (int t = 1; t <= 200; ++t) {
      staggered.step({&a}, {1});
      together.step({&b}, {1});
      const size_t now = staggered.attention().take_log().size();
      ASSERT_LE(now, t == 64 ? 5u * 2 : 2u) << "step " << t;
      evictions += now;
      for (int h = 0; h < 2; ++h) ASSERT_EQ(staggered.kept(0, 0, h), together.kept(0, 0, h)) << "step " << t;
    }
    EXPECT_EQ(evictions, 2u * (9 + 9 + 9 + 10 + 10));
    EXPECT_EQ(a.evictions, 9);
  }
}

TEST(Stagger, ChunksThreadsAndNeighboursChangeNothing) {
  for (const RowSetting& rows : row_settings(kPolicies)) {
    SCOPED_TRACE(rows.describe());
    std::vector<std::vector<int32_t>> want;
    for (const auto& [chunk, threads] : {std::pair{1, 1}, {1, 3}, {7, 2}, {250, 1}}) {
      Driver driver(five_layers(), rows.policy, rows.with_types(options()),
                    {.sequences = 2, .threads = threads, .poison_free_rows = true});
      Sequence s = driver.start(1, 0, 20), neighbour = driver.start(0, 5, 3);
      driver.step({&neighbour}, {70});
      for (int t = 0; t < 250; t += chunk) driver.step({&neighbour, &s}, {1, std::min(chunk, 250 - t)});
      std::vector<std::vector<int32_t>> kept;
      for (int i = 0; i < 10; ++i) kept.push_back(driver.kept(i / 2, 1, i % 2));
      if (want.empty()) want = kept;
      EXPECT_EQ(kept, want) << "chunk " << chunk << ", threads " << threads;
    }
  }
}

// A prompt that is stored whole leaves with the next token in all layers; then they part.
TEST(Stagger, DensePrompts) {
  for (const int prompt : {10, 63, 64, 200}) {
    CacheOptions cache = options();
    cache.prefill = Prefill::kDense;
    cache.max_prompt = 200;
    Driver driver(five_layers(), "vase-attnv", cache, {.threads = 1, .poison_free_rows = true});
    Sequence s = driver.start(0, 0, prompt);
    driver.step({&s}, {prompt});
    const int first = std::max(48 + 16, prompt + 1);
    for (int t = prompt + 1; t <= 300; ++t) {
      driver.step({&s}, {1});
      for (int layer = 0; layer < 5; ++layer) {
        const int second = first + 16 - 3 * layer;
        const int used = t < first ? t : t < second ? 48 + t - first : 48 + (t - second) % 16;
        ASSERT_EQ(driver.head(layer, 0, 1).used(), used)
            << "prompt " << prompt << ", token " << t << ", layer " << layer;
      }
    }
  }
}

// Where layers evict together as before.
TEST(Stagger, NotForHeadsThatShareNorForParityOrShortPeriods) {
  const auto staggered = [](const char* policy, CacheOptions cache) {
    const Policy parsed = Policy::parse(policy);
    return plan_engine(five_layers().shape, parsed, cache, {.threads = 1})
        .attention.schedule.staggered();
  };
  EXPECT_TRUE(staggered("vase-dkv", options()));
  EXPECT_FALSE(staggered("vase-dkv", options(false)));
  EXPECT_FALSE(staggered("tova", options()));
  EXPECT_FALSE(staggered("full", {}));
  CacheOptions cache = options();
  cache.period = 15;
  EXPECT_FALSE(staggered("vase-dkv", cache));
  cache.period = 17;
  EXPECT_TRUE(staggered("vase-dkv", cache));
  cache = options();
  cache.layer_budgets = LayerBudgets::kPyramid;
  cache.pyramid_beta = 2;
  EXPECT_FALSE(staggered("vase-dkv", cache));
  cache = options();
  cache.prefill = Prefill::kDense;
  cache.max_prompt = 64;
  EXPECT_TRUE(staggered("vase-dkv", cache));
  cache.trigger = Trigger::kParity;
  EXPECT_FALSE(staggered("vase-dkv", cache));
}

}  // namespace
}  // namespace vase
