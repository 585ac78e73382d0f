#include "end_to_end/cost_model.h"

#include <gtest/gtest.h>

namespace vase::bench {
namespace {

// 1 GB of weights; 1 MB per slot; 100 ms alone, 170 ms for eight: 10 ms per sequence and 90 ms for the
// weights.
const StepBytes kBytes{.weights = 1'000'000'000, .slot = 1'000'000};
const CostModel kModel(kBytes, {.one_s = 0.100, .batch = 8, .batch_s = 0.170, .read_gb_per_s = 20});

TEST(CostModel, SplitsAStepIntoWeightsAndColumns) {
  EXPECT_NEAR(kModel.column_s(), 0.010, 1e-12);
  EXPECT_NEAR(kModel.fixed_s(), 0.090, 1e-12);
}

TEST(CostModel, AddsTheReadingOfTheCache) {
  EXPECT_NEAR(kModel.step_s(1, 0), 0.100, 1e-12);
  EXPECT_NEAR(kModel.step_s(8, 0), 0.170, 1e-12);
  EXPECT_NEAR(kModel.step_s(1, 1000), 0.100 + 0.050, 1e-12);  // 1 GB at 20 GB/s
  EXPECT_NEAR(kModel.step_s(4, 500), 0.130 + 0.100, 1e-12);
  EXPECT_NEAR(kModel.tokens_per_s(4, 500), 4 / 0.230, 1e-9);
}

TEST(CostModel, CalibratedWithOneSequenceKnowsNoColumns) {
  const CostModel alone(kBytes, {.one_s = 0.1, .batch = 1, .batch_s = 0.1, .read_gb_per_s = 10});
  EXPECT_EQ(alone.column_s(), 0);
  EXPECT_NEAR(alone.step_s(1, 100), 0.110, 1e-12);
}

TEST(CostModel, BytesOfAStep) { EXPECT_EQ(kBytes.per_step(4, 250), 2e9); }

TEST(MeanSlots, AreThoseOfTheTextUntilTheBudgetBinds) {
  EXPECT_EQ(mean_slots(0, 1, 0, 0), 1);      // the token attends to itself
  EXPECT_EQ(mean_slots(100, 3, 0, 0), 102);  // 101, 102, 103
  EXPECT_EQ(mean_slots(100, 3, 1024, 64), 102);
  EXPECT_EQ(mean_slots(16384, 128, 1024, 64), 1056.5);  // 1025 .. 1088
}

}  // namespace
}  // namespace vase::bench
