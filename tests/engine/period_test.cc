// Evictions every `period` tokens, and what the options of the cache refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/attention_driver.h"
#include "engine/probe_policy.h"
#include "vase/error.h"
#include "vase/memory.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;

const ModelShape kShape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 32, .trained_context = 4096};

void expect_refused(const Policy& policy, const CacheOptions& cache, const std::string& word) {
  try {
    plan_memory(kShape, policy, cache, {.threads = 1});
    ADD_FAILURE() << "accepted, though " << word;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(Period, HeldSlotsFollowTheFormula) {
  struct Case { int m, r, period; };
  for (const auto [m, r, period] : {Case{40, 16, 16}, {40, 16, 1}, {40, 16, 5}, {40, 16, 50}, {9, 8, 3}, {2, 1, 7}}) {
    Driver driver(FakeModel{}, "random", {.budget = m, .buffer = r, .period = period}, {.threads = 1});
    EXPECT_EQ(driver.plan().cache.capacity, m + period);
    Sequence s = driver.start(0, 0, 1);
    for (int t = 1; t <= 200; ++t) {
      driver.step({&s}, {1});
      ASSERT_EQ(s.used, t < m + period ? t : m + (t - m) % period);
      ASSERT_EQ(s.evictions, t < m + period ? 0 : 1 + (t - m - period) / period);
      ASSERT_EQ(driver.head(0, 0, 1).used(), s.used);
      ASSERT_LT(driver.head(1, 0, 1).used(), m + period);
      for (const int layer : {0, 1}) {
        const auto kept = driver.kept(layer, 0, 1);
        for (int i = 1; i <= std::min(r, t); ++i) ASSERT_EQ(kept[kept.size() - i], t - i) << "a newest token was lost";
      }
    }
  }
}

TEST(Period, ZeroIsTheBuffer) {
  std::vector<std::vector<int32_t>> kept;
  for (const int period : {0, 16}) {
    Driver driver(FakeModel{}, "vase-attnv", {.budget = 40, .buffer = 16, .period = period}, {.threads = 1});
    Sequence s = driver.start(0, 0, 1);
    driver.step({&s}, {150});
    kept.push_back(driver.kept(1, 0, 0));
  }
  EXPECT_EQ(kept[0], kept[1]);
}

// Field report 22 with a period of its own: a prompt far above the budget, in chunks, and one that is stored whole.
TEST(Period, LongPrompts) {
  Driver driver(FakeModel{}, "vase-attnv", {.budget = 64, .buffer = 32, .period = 10}, {.threads = 1, .chunk = 128});
  Sequence s = driver.start(0, 0, 1000);
  while (s.seen < 1000) {
    driver.step({&s}, {std::min<int>(128, 1000 - static_cast<int>(s.seen))});
    EXPECT_LT(s.used, 74);
    const auto kept = driver.kept(0, 0, 1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(kept[i], i) << "a sink was lost";
  }
  Driver dense(FakeModel{}, "vase-attnv",
               {.budget = 64, .buffer = 32, .period = 10, .prefill = Prefill::kDense, .max_prompt = 300},
               {.threads = 1, .chunk = 128, .poison_free_rows = true});
  EXPECT_EQ(dense.plan().cache.capacity, 310);
  Sequence d = dense.start(0, 0, 300);
  while (d.seen < 300) dense.step({&d}, {std::min<int>(128, 300 - static_cast<int>(d.seen))});
  EXPECT_EQ(d.used, 300);
  for (int t = 1; t <= 25; ++t) {
    dense.step({&d}, {1});
    EXPECT_EQ(d.used, 64 + (t - 1) % 10);
  }
}

TEST(Period, PlanAndFormula) {
  const Policy policy = Policy::parse("random");
  const MemoryPlan plan = plan_memory(kShape, policy, {.budget = 256, .buffer = 64, .period = 16}, {.threads = 1});
  EXPECT_EQ(plan.capacity, 272);
  EXPECT_EQ(plan.period, 16);
  EXPECT_NE(plan.formula().find("272 slots (256 + 16)"), std::string::npos) << plan.formula();
  // Megabytes count the period: with a longer one the same memory holds a smaller budget.
  const auto budget = [&](int period) {
    return plan_memory(kShape, policy, {.budget_mib = 2, .buffer = 64, .period = period}, {.threads = 1}).budget;
  };
  EXPECT_GT(budget(1), budget(64));
  EXPECT_EQ(budget(64), budget(0));
  EXPECT_GT(budget(64), budget(1000));
  expect_refused(policy, {.budget_mib = 2, .buffer = 64, .period = 60000}, "smallest that works");
}

class OtherModelScorer final : public Scorer {
 public:
  void score(const HeadView&, RandomDraws&, PolicyScratch&, std::span<float>) const override {}
  void check(const ModelHeads& heads) const override {
    if (heads.layers != 5) throw Error(ErrorCode::kUsage, "made for 5 layers, not " + std::to_string(heads.layers));
  }
  std::string text() const override { return "other-model"; }
};

TEST(CacheOptions, WhatIsRefused) {
  const Policy random = Policy::parse("random");
  expect_refused(random, {.period = -1}, "the KV period is -1");
  expect_refused(random, {.period = 65537}, "the KV period is 65537");
  expect_refused(random,
                 {.budget = 128, .buffer = 64, .period = 32, .prefill = Prefill::kDense, .max_prompt = 9,
                  .trigger = Trigger::kParity},
                 "parity trigger evicts every 64 tokens");
  const auto log = std::make_shared<test::ProbeLog>();
  expect_refused(test::probe_policy({.rope = true}, log), {.positions = Positions::kCache}, "positions of the cache");
  expect_refused(Policy::parse("random order=score"), {.positions = Positions::kCache}, "order=position");
  expect_refused(test::probe_policy({.queries = 65537}, log), {}, "65537");
  expect_refused(Policy({}, std::make_shared<OtherModelScorer>(), std::make_shared<test::ProbeSelector>(false)), {},
                 "made for 5 layers, not 2");
}

}  // namespace
}  // namespace vase
