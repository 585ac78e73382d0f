// What each rule of protection claims.
#include <gtest/gtest.h>

#include "policies/test_head.h"

namespace vase {
namespace {

// `count` candidates at positions 0, 1, ..., with the given value ranges and norm products (0 where none is given), K of
// them kept.
// Attention falls with the position, so that `score=attention:smooth=off` alone would keep the first K.
class RuleTest : public testing::Test {
 protected:
  void set(int count, int keep, int prompt, std::vector<float> ranges = {}) {
    head_ = TestHead({.candidates = count, .budget = keep + 2, .buffer = 2, .prompt = prompt});
    ranges.resize(count);
    head_.value_range = ranges;
    for (int c = 0; c < count; ++c) {
      head_.positions[c] = c;
      head_.attention[c] = static_cast<float>(count - c);
    }
    head_.view.positions = head_.positions;
    head_.view.value_range = head_.value_range;
    head_.norm_product = ranges;
    head_.view.norm_product = head_.norm_product;
    head_.view.attention = head_.attention;
  }
  std::vector<uint32_t> keep(const std::string& rules, const std::string& order = "score") {
    PhiloxDraws draws({});
    std::vector<uint32_t> kept(head_.view.keep());
    Policy::parse("protect=" + rules + " score=attention:smooth=off order=" + order)
        .plan(head_.view, draws, scratch_, kept);
    return kept;
  }
  using Kept = std::vector<uint32_t>;

  TestHead head_{HeadShape{}};
  PolicyScratch scratch_;
};

TEST_F(RuleTest, ValueCountsTheSinks) {
  set(10, 5, 0, {0, 0, 0, 0, 1, 2, 9, 3, 9, 8});
  EXPECT_EQ(keep("sinks:2,value:4"), (Kept{0, 1, 6, 8, 2}));  // equal ranges: smaller position first
  EXPECT_EQ(keep("sinks:2,value:2"), (Kept{0, 1, 2, 3, 4}));
  EXPECT_EQ(keep("sinks:2,value:1"), (Kept{0, 1, 2, 3, 4}));
  EXPECT_EQ(keep("value:4"), (Kept{6, 8, 9, 7, 0}));
}

TEST_F(RuleTest, ValueIsCutToK) {
  set(10, 5, 0, {0, 0, 0, 0, 1, 2, 9, 3, 9, 8});
  EXPECT_EQ(keep("sinks:2,value:5"), (Kept{0, 1, 6, 8, 9}));
  EXPECT_EQ(keep("sinks:2,value:9"), (Kept{0, 1, 6, 8, 9}));
  EXPECT_EQ(keep("sinks:2,value:100%"), (Kept{0, 1, 6, 8, 9}));
  EXPECT_EQ(scratch_.protection_truncated, 0u);
}

TEST_F(RuleTest, ValuePercentIsOfTheBudgetRoundedDown) {
  set(20, 9, 0, {0, 0, 0, 0, 1, 2, 9, 3, 9, 8});
  EXPECT_EQ(keep("value:19%"), (Kept{6, 8, 0, 1, 2, 3, 4, 5, 7}));  // M = 11: 2.09
}

// Sizes as those of `value`; where both stand, `value` fills the first part.
TEST_F(RuleTest, LeverageFillsUpBehindTheOtherRules) {
  set(10, 5, 0, {0, 0, 0, 0, 1, 2, 9, 3, 9, 8});
  EXPECT_EQ(keep("sinks:2,leverage:4"), (Kept{0, 1, 6, 8, 2}));
  EXPECT_EQ(keep("leverage:4"), (Kept{6, 8, 9, 7, 0}));
  EXPECT_EQ(keep("leverage"), (Kept{6, 8, 9, 0, 1}));  // half of M = 7
  head_.norm_product = {0, 7, 5, 0, 0, 0, 0, 0, 0, 0};
  head_.view.norm_product = head_.norm_product;
  EXPECT_EQ(keep("value:2,leverage:4"), (Kept{6, 8, 1, 2, 0}));
}

// Beside a prompt rule the value slots are chosen among other tokens, and only those count.
TEST_F(RuleTest, ValueBesideThePrompt) {
  set(12, 8, 4, {0, 0, 7, 0, 1, 2, 9, 3, 9, 8, 0, 0});
  EXPECT_EQ(keep("sinks:2,prompt,value:3"), (Kept{0, 1, 2, 3, 6, 8, 9, 4}));
  EXPECT_EQ(keep("value:3,prompt"), (Kept{0, 1, 2, 3, 6, 8, 9, 4}));  // prompt claims first, whatever the text's order
  set(12, 8, 1, {0, 0, 7, 0, 1, 2, 9, 3, 9, 8, 0, 0});
  EXPECT_EQ(keep("sinks:2,prompt,value:3"), (Kept{0, 1, 6, 8, 2, 3, 4, 5}));  // sink 1 is no prompt token: counted
  set(12, 5, 4, {0, 0, 7, 0, 1, 2, 9, 3, 9, 8, 0, 0});
  EXPECT_EQ(keep("prompt,value:3"), (Kept{0, 1, 2, 3, 6}));  // min(N_v, K - P')
}

TEST_F(RuleTest, PromptTakesAtMostKMinusOne) {
  set(12, 5, 9);
  EXPECT_EQ(keep("prompt"), (Kept{0, 1, 2, 3, 4}));
  EXPECT_EQ(scratch_.protection_truncated, 1u);
  head_.attention[11] = 100;  // the slot that is left free goes to the best of the rest
  EXPECT_EQ(keep("prompt"), (Kept{0, 1, 2, 3, 11}));
  EXPECT_EQ(scratch_.protection_truncated, 2u);
  set(12, 10, 9);
  EXPECT_EQ(keep("prompt", "position"), (Kept{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(scratch_.protection_truncated, 2u);
}

TEST_F(RuleTest, PromptEnds) {
  set(12, 8, 9);
  head_.attention[10] = 100;
  EXPECT_EQ(keep("prompt:first=2,last=3"), (Kept{0, 1, 8, 7, 6, 10, 2, 3}));
  EXPECT_EQ(keep("prompt:first=30,last=30").size(), 8u);
  EXPECT_EQ(keep("prompt:20%"), (Kept{0, 1, 8, 7, 10, 2, 3, 4}));  // M = 10: 2 at each end
  set(12, 4, 9);
  EXPECT_EQ(keep("sinks:1,prompt:first=2,last=3"), (Kept{0, 1, 8, 2}));  // sinks, then head, then tail
  EXPECT_EQ(scratch_.protection_truncated, 2u);                         // this one, and first=30,last=30
  set(12, 4, 3);
  EXPECT_EQ(keep("prompt:first=2,last=9"), (Kept{0, 1, 2, 3}));
}

TEST_F(RuleTest, SinksGoByPositionNotBySlot) {
  set(8, 3, 0);
  for (int c = 0; c < 8; ++c) head_.positions[c] = 7 - c;
  EXPECT_EQ(keep("sinks:2"), (Kept{7, 6, 0}));
  for (int c = 0; c < 8; ++c) head_.positions[c] = 100 + c;
  EXPECT_EQ(keep("sinks:2"), (Kept{0, 1, 2}));  // none is left to protect
}

TEST_F(RuleTest, RandomFillsToItsSize) {
  set(100, 50, 0);
  std::set<std::vector<uint32_t>> plans;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto kept = plan_of("protect=sinks:4,random:20 score=attention:smooth=off", head_.view, {.seed = seed});
    plans.insert(kept);
    for (uint32_t c = 0; c < 34; ++c) EXPECT_TRUE(std::count(kept.begin(), kept.end(), c)) << c;  // 4 + at least 30
  }
  EXPECT_EQ(plans.size(), 20u);
}

}  // namespace
}  // namespace vase
