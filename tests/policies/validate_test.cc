// Budgets that cannot work are refused before anything runs, with the numbers and the smallest that works.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace vase
