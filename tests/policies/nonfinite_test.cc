// Scores that are NaN, infinite or all alike never make a plan arbitrary.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/top_k/top_k.h"
#include "policies/protect/sinks.h"
#include "policies/select/sample.h"
#include "policies/select/top.h"
#include "policies/test_head.h"

namespace vase {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// The first 12 tokens protected, the rest chosen by fixed scores.
Policy with_scores(std::vector<float> scores, bool sample) {
  std::shared_ptr<const Selector> select = std::make_shared<Top>();
  if (sample) select = std::make_shared<Sample>();
  return Policy({std::make_shared<Sinks>(12)}, std::make_shared<FixedScores>(std::move(scores)), select);
}

std::vector<float> falling(int count) {
  std::vector<float> scores(count);
  for (int c = 0; c < count; ++c) scores[c] = static_cast<float>(count - c);
  return scores;
}

TEST(NonFinite, NanOfEitherSignLosesAndIsCounted) {
  TestHead head({.candidates = 160});
  for (int c = 0; c < 160; ++c) head.positions[c] = c;
  for (float nan : {kNan, std::copysign(kNan, -1.0f)}) {
    for (bool sample : {false, true}) {
      std::vector<float> scores = falling(160);
      scores[17] = nan;
      const Policy policy = with_scores(scores, sample);
      PolicyScratch scratch;
      std::vector<uint32_t> first, kept(64);
      for (int run = 0; run < 5; ++run) {
        PhiloxDraws draws({});
        policy.plan(head.view, draws, scratch, kept);
        if (run == 0) first = kept;
        EXPECT_EQ(kept, first);
      }
      EXPECT_EQ(std::count(kept.begin(), kept.end(), 17u), 0);
      EXPECT_EQ(std::set<uint32_t>(kept.begin(), kept.end()).size(), 64u);
      EXPECT_EQ(scratch.nonfinite_scores, 5u);
    }
  }
}

TEST(NonFinite, NothingButNanOrMinusInfinityStillKeepsTheProtectedAndK) {
  TestHead head({.candidates = 160});
  for (int c = 0; c < 160; ++c) head.positions[c] = c;
  for (float bad : {kNan, -kInf}) {
    const auto top = plan_of(with_scores(std::vector<float>(160, bad), false), head.view);
    EXPECT_EQ(top, indices(64));  // all alike: smaller positions
    const Policy policy = with_scores(std::vector<float>(160, bad), true);
    PolicyScratch scratch;
    PhiloxDraws draws({});
    std::vector<uint32_t> kept(64);
    policy.plan(head.view, draws, scratch, kept);
    EXPECT_EQ(std::set<uint32_t>(kept.begin(), kept.end()).size(), 64u);
    EXPECT_EQ(std::vector<uint32_t>(kept.begin(), kept.begin() + 12), indices(12));
    EXPECT_EQ(scratch.nonfinite_scores, 160u);
    EXPECT_EQ(scratch.weightless_draws, 52u);
  }
}

TEST(NonFinite, NanRanksBelowMinusInfinityAndValueSlotsIgnoreIt) {
  const std::vector<float> scores = {kNan, -kInf, 1, kInf, -kNan, 1};
  std::vector<uint32_t> pool = indices(6);
  kernels::top_k(scores, indices<int32_t>(6), pool, 6, true);
  EXPECT_EQ(pool, (std::vector<uint32_t>{3, 2, 5, 1, 0, 4}));

  TestHead head({.candidates = 80, .budget = 40});
  head.value_range[3] = kNan;
  head.attention.assign(80, 1);
  for (int c = 40; c < 44; ++c) head.value_range[c] = 100;
  const auto kept = plan_of("protect=value:4 score=attention order=score", head.view);
  EXPECT_EQ(std::vector<uint32_t>(kept.begin(), kept.begin() + 4), (std::vector<uint32_t>{40, 41, 42, 43}));
}

TEST(Ties, EqualScoresKeepTheSmallerPositions) {
  TestHead head({.candidates = 100, .budget = 82});
  head.attention.assign(100, 1);
  EXPECT_EQ(plan_of("score=attention:smooth=off", head.view), indices(50));
  EXPECT_EQ(plan_of("snapkv", head.view), indices(50));
  for (int c = 0; c < 100; ++c) head.positions[c] = 1000 - c;  // smaller position, not smaller index
  std::vector<uint32_t> last = indices(100);
  last.erase(last.begin(), last.begin() + 50);
  EXPECT_EQ(plan_of("score=attention:smooth=off", head.view), last);
}

TEST(Ties, ConstantValuesAndConstantAttention) {
  TestHead head({.candidates = 96});
  head.attention.assign(96, 1);
  head.value_range.assign(96, 0);
  const auto kept = plan_of("vase-attnv", head.view);
  EXPECT_EQ(kept.size(), 64u);
  for (uint32_t c = 0; c < 24; ++c) EXPECT_TRUE(std::count(kept.begin(), kept.end(), c)) << c;  // N_v = M/4, ties
}

// Scores are of the window, not accumulated: one window is enough for a token to survive, whatever went before.
TEST(Window, AllOfTheLastWindowsAttentionSavesAToken) {
  TestHead head({.candidates = 192, .budget = 128});
  std::fill(head.attention.begin(), head.attention.end(), 0.0f);
  head.attention[150] = static_cast<float>(head.view.attention_rows);
  for (const char* text : {"snapkv", "vase-attnv"}) {
    const auto kept = plan_of(text, head.view);
    for (uint32_t c = 148; c <= 152; ++c) EXPECT_TRUE(std::count(kept.begin(), kept.end(), c)) << text << c;
  }
}

}  // namespace
}  // namespace vase
