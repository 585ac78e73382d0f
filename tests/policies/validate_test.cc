// Budgets that cannot work are refused before anything runs, with the numbers and the smallest that works.
#include <gtest/gtest.h>

#include <memory>

#include "policies/test_head.h"
#include "vase/error.h"

namespace vase {
namespace {

std::string refusal(const std::string& text, int budget, int buffer) {
  try {
    Policy::parse(text).validate(budget, buffer);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(Validate, NamesTheNumbers) {
  EXPECT_EQ(refusal("vase-attnv", 68, 64),
            "budget 68 with buffer 64 keeps 4 older tokens, but 'sinks:4' needs 5; the smallest budget that works here "
            "is 69");
  EXPECT_EQ(refusal("snapkv", 64, 64),
            "budget 64 with buffer 64 leaves nothing to keep beside the buffer; the smallest budget that works here is "
            "65");
  EXPECT_EQ(refusal("vase-attnv protect+=value:64", 100, 64),
            "budget 100 with buffer 64 keeps 36 older tokens, but 'value:64' needs 64; the smallest budget that works "
            "here is 128");
  EXPECT_NE(refusal("random", 64, 0).find("buffer 0 is too small"), std::string::npos);
  EXPECT_NE(refusal("random", 64, -3).find("buffer -3 is too small"), std::string::npos);
}

// Any M > R works; none is rounded.
TEST(Validate, BudgetsThatAreNoMultipleOfTheBuffer) {
  for (auto [budget, buffer] : {std::pair(100, 48), std::pair(64, 1), std::pair(17, 16)}) {
    EXPECT_EQ(refusal("random", budget, buffer), "");
    const TestHead head({.candidates = budget, .budget = budget, .buffer = buffer});
    EXPECT_EQ(static_cast<int>(plan_of("random", head.view).size()), budget - buffer);
  }
  for (auto [budget, buffer] : {std::pair(8, 16), std::pair(1, 1), std::pair(64, 0), std::pair(0, 32)}) {
    EXPECT_NE(refusal("random", budget, buffer), "") << budget << " " << buffer;
  }
}

TEST(Validate, ProtectionLargerThanTheBudget) {
  EXPECT_NE(refusal("score=attention protect=sinks:4,value:8", 8, 1), "");
  EXPECT_NE(refusal("score=attention protect=sinks:4,value:0", 4, 1), "");
  EXPECT_EQ(refusal("score=attention protect=sinks:4,value:12", 16, 4), "");  // nothing is left to choose: allowed
  EXPECT_EQ(refusal("score=attention protect=sinks:1048576", 1 << 20, 64).find("-"), std::string::npos);
}

// What several rules promise adds up: 5 + 3 prompt tokens and 8 values; the 4 sinks lie within the prompt.
TEST(Validate, RulesTogether) {
  const std::string rules = "score=attention protect=sinks:4,value:8,prompt:first=5,last=3";
  EXPECT_EQ(refusal(rules, 20, 4), "");
  EXPECT_EQ(refusal(rules, 19, 4), "budget 19 with buffer 4 is less than the rules of protection promise together; the "
                                   "smallest budget that works here is 20");
  EXPECT_EQ(refusal("score=attention protect=recent:64", 64, 16), "");
  EXPECT_NE(refusal("score=attention protect=recent:65", 64, 16).find("works here is 65"), std::string::npos);
  EXPECT_EQ(refusal("score=attention protect=recent:100%,prompt:50%,value:90%", 18, 16), "");  // promise nothing
}

TEST(Validate, FullNeedsNoBudget) { EXPECT_EQ(refusal("full", 0, 0), ""); }

// The smallest case of all: one token is kept, never none.
TEST(Plan, KeepsOneOfOneAndOneOfMany) {
  for (int candidates : {1, 2, 50}) {
    const TestHead head({.candidates = candidates, .budget = 33, .buffer = 32});
    EXPECT_EQ(plan_of("snapkv", head.view).size(), 1u);
    EXPECT_EQ(plan_of("vase-attnv", head.view).size(), 1u);
  }
}

TEST(Plan, RefusesSizesThatDoNotFit) {
  const TestHead head({.candidates = 20, .budget = 96, .buffer = 32});
  EXPECT_THROW(plan_of("snapkv", head.view), Error);
  const TestHead other({.candidates = 96});
  std::vector<uint32_t> kept(63);
  PhiloxDraws draws({});
  PolicyScratch scratch;
  EXPECT_THROW(Policy::parse("snapkv").plan(other.view, draws, scratch, kept), Error);
}

// A selector of a caller's own that returns whatever it was told.
class FixedChoice final : public Selector {
 public:
  explicit FixedChoice(std::vector<uint32_t> choice) : choice_(std::move(choice)) {}
  void select(const HeadView&, std::span<const float>, std::span<uint32_t>, bool, RandomDraws&, PolicyScratch&,
              std::span<uint32_t> out) const override {
    std::copy_n(choice_.begin(), out.size(), out.begin());
  }
  std::string text() const override { return "choice:fixed"; }

 private:
  std::vector<uint32_t> choice_;
};

class FirstToken final : public Protector {
 public:
  explicit FirstToken(uint32_t candidate) : candidate_(candidate) {}
  void claim(const HeadView&, RandomDraws&, PolicyScratch&, Claims& claims) const override { claims.add(candidate_); }
  std::string text() const override { return "first"; }

 private:
  uint32_t candidate_;
};

// Keeps 4 of 8 candidates, one of them claimed.
std::string plan_refusal(uint32_t claimed, std::vector<uint32_t> choice, Order order) {
  const TestHead head({.candidates = 8, .budget = 6, .buffer = 2});
  Policy policy({std::make_shared<FirstToken>(claimed)}, std::make_shared<FixedScores>(std::vector<float>(8)),
                std::make_shared<FixedChoice>(std::move(choice)));
  policy.order = order;
  try {
    plan_of(policy, head.view);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(Plan, RefusesWhatIsNoSetOfCandidates) {
  for (const Order order : {Order::kPosition, Order::kScore}) {
    EXPECT_EQ(plan_refusal(0, {7, 1, 3}, order), "");
    for (const auto& choice : {std::vector<uint32_t>{1, 3, 1}, {1, 3, 0}, {1, 3, 8}, {1, 3, ~0u}}) {
      EXPECT_NE(plan_refusal(0, choice, order).find("'choice:fixed' chose candidate " + std::to_string(choice[2])),
                std::string::npos);
    }
    EXPECT_NE(plan_refusal(8, {1, 2, 3}, order).find("claimed candidate 8"), std::string::npos);
  }
}

TEST(Plan, FullHasNone) {
  const TestHead head(HeadShape{});
  EXPECT_THROW(plan_of("full", head.view), Error);
}

TEST(Construction, NeedsAScorerWithASelector) {
  const auto scorer = std::make_shared<FixedScores>(std::vector<float>(8));
  const auto selector = std::make_shared<FixedChoice>(std::vector<uint32_t>{});
  EXPECT_NO_THROW(Policy({}, scorer, selector));
  EXPECT_FALSE(Policy({}, nullptr, nullptr).evicts());
  EXPECT_THROW(Policy({}, scorer, nullptr), Error);
  EXPECT_THROW(Policy({}, nullptr, selector), Error);
  EXPECT_THROW(Policy({nullptr}, scorer, selector), Error);
}

}  // namespace
}  // namespace vase
