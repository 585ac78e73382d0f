// What must hold for every policy. A new preset joins by itself; a new part joins as a row of kCompositions.
#include <gtest/gtest.h>

#include "policies/test_head.h"

namespace vase {
namespace {

const std::vector<std::string> kCompositions = {
    "protect=sinks:4,value:25% score=attention:divisor=fixed select=sample order=score",
    "protect=sinks:4,value:8,measure=var score=attention:smooth=off select=sample",
    "protect=value:12,measure=l2 score=attention select=top order=score",
    "protect=prompt,value:20,measure=absmax score=attention select=sample",
    "protect=sinks:2,prompt:first=5,last=3 score=leverage:sketch=off select=top",
    "protect=prompt:10% score=leverage:sketch=7,resample=off select=sample",
    "protect=random:25% score=attention select=top",
    "score=value:keep=small select=top order=score",
    "protect=sinks:4 score=value:measure=l2 select=sample",
    "protect=sinks:4 score=uniform select=sample order=score",
};

std::vector<std::string> every_policy() {
  std::vector<std::string> all = kCompositions;
  for (const PolicyInfo& preset : Policy::presets()) {
    if (!Policy::parse(preset.name).evicts()) continue;
    all.push_back(preset.name);
    all.push_back(preset.name + " protect+=prompt");
    all.push_back(preset.name + " protect+=sinks:6,prompt:first=20,last=10 order=score");
  }
  return all;
}

std::vector<HeadShape> shapes() {
  return {
      {},
      {.candidates = 96, .prompt = 10, .head_dim = 64, .group = 1, .type = RowType::kF16},
      {.candidates = 192, .prompt = 60, .head_dim = 80, .group = 5},                          // first drop: C = 2M
      {.candidates = 97, .budget = 41, .buffer = 1, .prompt = 500, .type = RowType::kF16},    // prompt beyond K
      {.candidates = 40, .budget = 40, .buffer = 16, .prompt = 3, .head_dim = 20},            // padded rows
      {.candidates = 128, .budget = 128, .buffer = 64, .prompt = 7, .shuffled = true},
      {.candidates = 25, .budget = 57, .buffer = 32, .prompt = 1},                            // K = C: keeps all
  };
}

class PolicyContract : public testing::TestWithParam<std::string> {};

TEST_P(PolicyContract, KeepsExactlyKDistinctCandidates) {
  const Policy policy = Policy::parse(GetParam());
  for (HeadShape shape : shapes()) {
    for (shape.seed = 1; shape.seed <= 5; ++shape.seed) {
      const TestHead head(shape);
      const auto kept = plan_of(policy, head.view, {.seed = shape.seed});
      ASSERT_EQ(static_cast<int>(kept.size()), shape.budget - shape.buffer);
      ASSERT_EQ(std::set<uint32_t>(kept.begin(), kept.end()).size(), kept.size());
      ASSERT_LT(*std::max_element(kept.begin(), kept.end()), static_cast<uint32_t>(shape.candidates));
      if (policy.order == Order::kPosition) {
        ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end()));
      }
      const std::set<int> positions = positions_of(kept, head.view);
      for (int sink = 0; sink < policy.sinks(); ++sink) ASSERT_TRUE(positions.contains(sink)) << sink;
    }
  }
}

TEST_P(PolicyContract, SameDrawsGiveTheSamePlanWhateverTheScratchHeldBefore) {
  const Policy policy = Policy::parse(GetParam());
  PolicyScratch used;
  for (const HeadShape& shape : shapes()) {
    const TestHead head(shape);
    PhiloxDraws draws({.seed = 9, .layer = 3, .head = 1, .eviction = 2});
    std::vector<uint32_t> kept(head.view.keep());
    policy.plan(head.view, draws, used, kept);
    EXPECT_EQ(kept, plan_of(policy, head.view, {.seed = 9, .layer = 3, .head = 1, .eviction = 2}));
  }
}

TEST_P(PolicyContract, BothOrdersKeepTheSameSet) {
  Policy one = Policy::parse(GetParam()), other = one;
  one.order = Order::kPosition;
  other.order = Order::kScore;
  const TestHead head({.candidates = 120, .prompt = 12});
  EXPECT_EQ(positions_of(plan_of(one, head.view), head.view), positions_of(plan_of(other, head.view), head.view));
}

TEST_P(PolicyContract, TextIsCanonical) {
  const Policy policy = Policy::parse(GetParam());
  const Policy again = Policy::parse(policy.text());
  EXPECT_EQ(again.text(), policy.text());
  EXPECT_EQ(again.order, policy.order);
  const TestHead head({.prompt = 9});
  EXPECT_EQ(plan_of(again, head.view), plan_of(policy, head.view));
}

TEST_P(PolicyContract, LeavesAloneWhatItDoesNotAskFor) {
  const Policy policy = Policy::parse(GetParam());
  TestHead head({.prompt = 9});
  const auto kept = plan_of(policy, head.view);
  if (policy.needs().attention == AttentionRecord::kNone) head.view.attention = {};
  if (!policy.needs().value_range) head.view.value_range = {};
  EXPECT_EQ(plan_of(policy, head.view), kept);
}

TEST_P(PolicyContract, AcceptsItsSmallestBudgetAndRefusesOneLess) {
  const Policy policy = Policy::parse(GetParam());
  for (int buffer : {1, 16, 64}) {
    const int smallest = static_cast<int>(policy.smallest_budget(buffer));
    EXPECT_NO_THROW(policy.validate(smallest, buffer));
    EXPECT_ANY_THROW(policy.validate(smallest - 1, buffer));
    const TestHead head({.candidates = smallest + 8, .budget = smallest, .buffer = buffer, .prompt = 30});
    EXPECT_EQ(static_cast<int>(plan_of(policy, head.view).size()), smallest - buffer);
  }
}

INSTANTIATE_TEST_SUITE_P(AllPolicies, PolicyContract, testing::ValuesIn(every_policy()),
                         [](const auto& row) { return "policy" + std::to_string(row.index); });

// With smoothing off nothing depends on the logical order.
TEST(Permutation, KeptPositionsDoNotDependOnTheOrderOfCandidates) {
  for (const char* text : {"protect=sinks:4,value:25% score=attention:smooth=off select=sample",
                           "protect=sinks:4,prompt score=attention:smooth=off select=top", "vase-dkv", "curdkv",
                           "random-prompt", "protect=random:10 score=value:keep=small"}) {
    const TestHead head({.candidates = 150, .prompt = 20});
    const auto want = positions_of(plan_of(text, head.view), head.view);
    std::vector<uint32_t> order = indices(150);
    for (uint32_t& c : order) c = (c * 77 + 13) % 150;  // 77 and 150 have no common factor
    const TestHead other = head.reordered(order);
    EXPECT_EQ(positions_of(plan_of(std::string(text) + " order=score", other.view), other.view), want) << text;
  }
}

// A head's plan depends on its own key alone, so other sequences may come and go.
TEST(Streams, EveryPartOfTheKeyChangesTheDrawsAndNothingElseDoes) {
  const TestHead head({.candidates = 200});
  const DrawKey base{.seed = 5, .sequence = 1, .layer = 2, .head = 3, .eviction = 4};
  DrawKey keys[] = {base, base, base, base, base};
  ++keys[0].seed, ++keys[1].sequence, ++keys[2].layer, ++keys[3].head, ++keys[4].eviction;
  const auto want = plan_of("random", head.view, base);
  for (const DrawKey& key : keys) EXPECT_NE(plan_of("random", head.view, key), want);
  EXPECT_EQ(plan_of("random", head.view, base), want);
}

TEST(Seeds, AllValidSeedsDiffer) {
  const TestHead head({.candidates = 200});
  std::set<std::vector<uint32_t>> plans;
  for (uint64_t seed : {uint64_t{0}, uint64_t{7}, uint64_t{0xffffffff}, uint64_t{1} << 63, ~uint64_t{0}}) {
    plans.insert(plan_of("vase-attnv", head.view, {.seed = seed}));
    plans.insert(plan_of("vase-attnv", head.view, {.seed = seed}));
  }
  EXPECT_EQ(plans.size(), 5u);
}

}  // namespace
}  // namespace vase
