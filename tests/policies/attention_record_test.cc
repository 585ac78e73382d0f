// Scores out of what the engine records about attention: the forms of the window, caote, lifetime-attention,
// recurrence.
#include <cmath>
#include <limits>

#include "kernels/smoothing/smoothing.h"
#include "policies/small_head.h"

namespace vase {
namespace {

using Kept = std::vector<uint32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(WindowForm, RootMeanSquareByHand) {
  SmallHead head(4, 2, 2, 2, 2);            // W G = 4 rows
  head.attention = {1, 0.25f, 4, 0};        // sums of squares: / 4, root = 0.5, 0.25, 1, 0
  EXPECT_EQ(scores_of("attention:form=rms,smooth=off", head.view()), (std::vector<float>{0.5f, 0.25f, 1, 0}));
  EXPECT_EQ(plan_of("score=attention:form=rms,smooth=off", head.view()), (Kept{0, 2}));
}

TEST(WindowForm, MaximumSmoothedByHand) {
  SmallHead head(5, 2, 2, 1, 2);
  head.attention = {3, 0, 0, 0, 6};  // averages of the neighbours: 3/3, 3/4, 9/5, 6/4, 6/3
  expect_near(scores_of("attention:form=max", head.view()), {1, 0.75, 1.8, 1.5, 2}, 1e-6);
  EXPECT_EQ(plan_of("score=attention:form=max", head.view()), (Kept{2, 4}));
  // Always divided by 5: 3/5, 3/5, 9/5, 6/5, 6/5; the tie of the last two goes to the earlier.
  EXPECT_EQ(plan_of("score=attention:form=max,divisor=fixed", head.view()), (Kept{2, 3}));
}

// The roots are smoothed, not the squares: (1 + 3) / 2 each, where the root of the mean square is sqrt(5).
TEST(WindowForm, SmoothsTheRoots) {
  SmallHead head(2, 1, 1, 1, 2);
  head.attention = {1, 9};
  EXPECT_EQ(scores_of("attention:form=rms", head.view()), (std::vector<float>{2, 2}));
}

TEST(WindowForm, AsksForItsRecord) {
  EXPECT_EQ(Policy::parse("score=attention").needs().attention, AttentionRecord::kWindowSum);
  EXPECT_EQ(Policy::parse("score=attention:form=rms").needs().attention, AttentionRecord::kWindowSquares);
  const PolicyNeeds needs = Policy::parse("score=caote:form=max,temperature=0.5").needs();
  EXPECT_EQ(needs.attention, AttentionRecord::kWindowMax);
  EXPECT_EQ(needs.temperature, 0.5f);
  EXPECT_NE(parse_error("score=0.5*attention+0.5*attention:form=rms"), "");  // a policy keeps one record
}

TEST(WindowForm, TextIsCanonical) {
  for (const char* text : {"attention", "attention:smooth=off", "attention:divisor=fixed",
                           "attention:form=rms,smooth=off,temperature=2.5", "caote:form=max,divisor=fixed", "caote"}) {
    EXPECT_EQ(Policy::parse("score=" + std::string(text)).text(), "score=" + std::string(text) + " select=top");
  }
  EXPECT_EQ(Policy::parse("score=attention:temperature=1.0,divisor=fixed,smooth=off").text(),
            "score=attention:smooth=off select=top");  // nothing is divided without smoothing
}

TEST(WindowForm, RefusesWhatIsOutOfRange) {
  EXPECT_EQ(parse_error("score=attention:form=median").rfind("policy, character 22: ", 0), 0u);
  EXPECT_EQ(parse_error("score=attention:temperature=0").rfind("policy, character 29: ", 0), 0u);
  EXPECT_EQ(parse_error("score=caote:temperature=101").rfind("policy, character 25: ", 0), 0u);
}

TEST(Caote, ByHand) {
  SmallHead head(3, 1, 2, 1, 2);
  head.attention = {0.5f, 0.25f, 0.25f};
  head.set(head.values, 1, {4, 0});
  head.set(head.values, 2, {0, 8});
  // o = 0.5 (0, 0) + 0.25 (4, 0) + 0.25 (0, 8) = (1, 2). Scores 1 * |(-1, -2)|, 1/3 * |(3, -2)|, 1/3 * |(-1, 6)|.
  const std::vector<double> want = {std::sqrt(5.0), std::sqrt(13.0) / 3, std::sqrt(37.0) / 3};
  expect_near(scores_of("caote:smooth=off", head.view()), want, 1e-6);
  EXPECT_EQ(plan_of("score=caote:smooth=off", head.view()), (Kept{0, 2}));      // 2.24, 1.20, 2.03
  EXPECT_EQ(plan_of("score=attention:smooth=off", head.view()), (Kept{0, 1}));  // a tie, without the values
}

TEST(Caote, ClampsAttention) {
  SmallHead head(2, 1, 1, 1, 2);
  head.attention = {1, 0};
  head.set(head.values, 1, {2, 0});  // o = 2e-6 (1, 0)
  const auto scores = scores_of("caote:smooth=off", head.view());
  EXPECT_NEAR(scores[0], 2, 0.2);  // 1e6 * 2e-6; 1 - a in single precision knows a digit
  EXPECT_NEAR(scores[1], 2e-6, 1e-9);
}

TEST(Caote, EqualsDirectEvaluation) {
  for (int group : {1, 2, 5, 8}) {
    for (RowType type : kRowTypes) {
      TestHead head(
          {.candidates = 90, .head_dim = 32 * (group % 4 + 1), .group = group, .type = type, .shuffled = true});
      for (float& a : head.attention) a *= 0.3f * static_cast<float>(head.view.attention_rows) / 90;
      const auto actual = scores_of("caote", head.view);
      std::vector<float> smooth(90);
      kernels::smooth5(head.attention, kernels::Divisor::kValid, smooth);
      std::vector<double> output(head.view.values.width), want;
      const auto share = [&](int j) {
        return std::clamp(double(smooth[j]) / head.view.attention_rows, 1e-6, 1 - 1e-6);
      };
      for (int j = 0; j < 90; ++j) {
        const auto value = row_of(head.view.values, j);
        for (size_t c = 0; c < value.size(); ++c) output[c] += share(j) * value[c];
      }
      for (int j = 0; j < 90; ++j) {
        const auto value = row_of(head.view.values, j);
        double squares = 0;
        for (size_t c = 0; c < value.size(); ++c) squares += (value[c] - output[c]) * (value[c] - output[c]);
        want.push_back(share(j) / (1 - share(j)) * std::sqrt(squares));
        EXPECT_NEAR(actual[j], want[j], 1e-5 * want[j]);
      }
    }
  }
}

TEST(Caote, NanOfOneCandidateStaysThere) {
  TestHead head({.candidates = 40, .budget = 60});
  head.attention[7] = kNan;
  const auto scores = scores_of("caote:smooth=off", head.view);
  for (int j = 0; j < 40; ++j) EXPECT_EQ(std::isnan(scores[j]), j == 7) << j;
}

TEST(LifetimeAttention, H2oByHand) {
  SmallHead head(6, 2, 4, 1, 2);  // M = 6: the newest 3 are the buffer's 2 and candidate 5
  head.attention = {5, 1, 4, 3, 2, 0};
  EXPECT_EQ(plan_of("h2o", head.view()), (Kept{0, 2, 3, 5}));
  EXPECT_EQ(Policy::parse("h2o").needs().attention, AttentionRecord::kLifetimeSum);
  EXPECT_EQ(plan_of("score=lifetime-attention", head.view()), (Kept{0, 2, 3, 4}));
}

// 8 tokens seen, two heads: candidate j has had 2 (8 - j) probabilities.
TEST(LifetimeAttention, AverageByHand) {
  SmallHead head(6, 2, 4, 2, 2);
  head.attention = {8, 7, 3, 5, 4, 6};  // / 16, 14, 12, 10, 8, 6
  expect_near(scores_of("lifetime-attention:average=on", head.view()), {0.5, 0.5, 0.25, 0.5, 0.5, 1}, 1e-6);
  EXPECT_EQ(plan_of("score=lifetime-attention:average=on", head.view()), (Kept{0, 1, 3, 5}));
  EXPECT_EQ(Policy::parse("score=lifetime-attention:average=on").text(),
            "score=lifetime-attention:average=on select=top");
}

TEST(Recurrence, ByHand) {
  SmallHead head(4, 17, 2, 1, 2);  // t = 20
  head.last_use = {20, 10, 0, 20};
  head.longest_gap = {1, 10, 5, 0};
  // 2 s(0) + 2 s(-1) = 1 + 0.5379; 2 s(-1) + 2 s(-0.1) = 0.5379 + 0.9500; 2 s(-4) + 2 s(-0.2) = 0.0360 + 0.9003; never
  // used twice = 0.
  expect_near(scores_of("recurrence", head.view()), {1.53788, 1.48792, 0.93630, 0}, 1e-4);
  EXPECT_EQ(plan_of("lazy-eviction", head.view()), (Kept{0, 1}));
}

TEST(Recurrence, LongIdleTimesAndShortGapsStayFinite) {
  SmallHead head(2, 1, 1, 1, 2);
  head.positions = {0, 2'000'000'000};
  head.last_use = {0, 2'000'000'000};
  head.longest_gap = {1, 2'000'000'000};
  const auto scores = scores_of("recurrence", head.view());
  EXPECT_FLOAT_EQ(scores[0], static_cast<float>(2 / (1 + std::exp(1.0))));
  EXPECT_FLOAT_EQ(scores[1], 2);
}

TEST(Recurrence, ThresholdIsPartOfTheRecord) {
  EXPECT_EQ(Policy::parse("score=recurrence").needs().threshold, 1e-4f);
  EXPECT_EQ(Policy::parse("score=recurrence:threshold=0.25").needs().threshold, 0.25f);
  EXPECT_EQ(Policy::parse("score=recurrence:threshold=0.25").text(), "score=recurrence:threshold=0.25 select=top");
  EXPECT_EQ(parse_error("score=recurrence:threshold=2").rfind("policy, character 28: ", 0), 0u);
}

}  // namespace
}  // namespace vase
