// The search for a budget, on curves that are made up.
#include "eval/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "vase/error.h"

namespace vase::eval {
namespace {

std::vector<int> budgets(const FoundBudget& found) {
  std::vector<int> list;
  for (const BudgetProbe& probe : found.probes) list.push_back(probe.budget);
  return list;
}

double falling(int budget) { return 10.0 / budget; }

TEST(SmallestBudget, DoublesAndThenHalves) {
  // 10 / b <= 0.05 from 200 on.
  const FoundBudget found = smallest_budget_below(0.05, {16, 1024, 8}, falling);
  EXPECT_EQ(found.budget, 200);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(budgets(found), (std::vector<int>{16, 32, 64, 128, 256, 192, 224, 208, 200}));
  EXPECT_DOUBLE_EQ(found.probes[0].value, 0.625);
}

TEST(SmallestBudget, FindsTheSmallestOfEveryFallingCurve) {
  for (const int step : {1, 8, 16}) {
    for (int threshold = 1; threshold <= 1000; threshold += 7) {
      const BudgetRange range{2 * step, 1008 / step * step, step};
      const FoundBudget found =
          smallest_budget_below(1.0, range, [&](int budget) { return double(threshold) / budget; });
      const int smallest = std::max(range.lowest, (threshold + step - 1) / step * step);
      EXPECT_EQ(found.budget, smallest) << threshold << " in steps of " << step;
      EXPECT_LE(found.probes.size(), 20u);
    }
  }
}

TEST(SmallestBudget, TheLowestMayDo) {
  const FoundBudget found = smallest_budget_below(1, {16, 1024, 16}, falling);
  EXPECT_EQ(found.budget, 16);
  EXPECT_EQ(budgets(found), (std::vector<int>{16}));
}

TEST(SmallestBudget, NoneMayDo) {
  const FoundBudget found = smallest_budget_below(0.001, {16, 112, 16}, falling);
  EXPECT_FALSE(found.budget.has_value());
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(budgets(found), (std::vector<int>{16, 32, 64, 112})) << "the highest is tried, too";
}

TEST(SmallestBudget, ARangeOfOneBudget) {
  EXPECT_EQ(smallest_budget_below(1, {32, 32, 16}, falling).budget, 32);
  EXPECT_FALSE(smallest_budget_below(0.1, {32, 32, 16}, falling).budget.has_value());
}

TEST(SmallestBudget, OnNoisyCurvesNothingSmallerThatWasMeasuredIsGoodEnough) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const FoundBudget found = smallest_budget_below(0.05, {16, 2048, 16}, [&](int budget) {
      std::mt19937 random(seed * 10007 +
                          static_cast<unsigned>(budget));  // the same budget gives the same value
      return falling(budget) * std::exp(std::normal_distribution<double>(0, 0.5)(random));
    });
    ASSERT_TRUE(found.budget.has_value()) << seed;
    EXPECT_EQ(*found.budget % 16, 0);
    std::vector<int> measured = budgets(found);
    std::ranges::sort(measured);
    EXPECT_EQ(std::ranges::adjacent_find(measured), measured.end()) << "no budget is measured twice";
    bool itself = false, next = *found.budget == 16;
    for (const BudgetProbe& probe : found.probes) {
      if (probe.budget < *found.budget) EXPECT_GT(probe.value, 0.05);
      itself |= probe.budget == *found.budget && probe.value <= 0.05;
      next |= probe.budget == *found.budget - 16;
    }
    EXPECT_TRUE(itself) << "it was measured and is good enough";
    EXPECT_TRUE(next) << "the next smaller one was measured";
  }
}

TEST(SmallestBudget, EndsWithTheMeasurement) {
  int calls = 0;
  const auto three = [&](int budget) { return ++calls <= 3 ? std::optional(falling(budget)) : std::nullopt; };
  const FoundBudget early = smallest_budget_below(0.05, {16, 1024, 8}, three);
  EXPECT_FALSE(early.complete);
  EXPECT_FALSE(early.budget.has_value());
  EXPECT_EQ(early.probes.size(), 3u);
  calls = -3;
  const FoundBudget late = smallest_budget_below(0.05, {16, 1024, 8}, three);
  EXPECT_FALSE(late.complete);
  EXPECT_EQ(late.budget, 256) << "the best so far";
  EXPECT_EQ(calls, 4);
}

TEST(SmallestBudget, RefusesWhatIsNoRange) {
  const std::vector<BudgetRange> ranges = {{0, 16, 16}, {32, 16, 16}, {16, 40, 16}, {8, 32, 16}, {16, 32, 0}};
  for (const BudgetRange& range : ranges) {
    EXPECT_THROW(smallest_budget_below(1, range, falling), Error);
  }
}

}  // namespace
}  // namespace vase::eval
