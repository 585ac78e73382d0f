// vase.h as C++ reads it; and no exception of a callback crosses the C interface.
#include "vase/vase.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

int throws(void*, const vase_head*, float*) { throw std::logic_error("thrown by a scorer"); }

TEST(CHeader, AnExceptionBecomesAStatus) {
  vase_policy *policy = nullptr, *mine = nullptr;
  ASSERT_EQ(vase_policy_parse("score=uniform", &policy), VASE_OK);
  vase_scorer scorer;
  vase_scorer_init(&scorer, sizeof scorer);
  scorer.name = "throwing";
  scorer.score = throws;
  ASSERT_EQ(vase_policy_with_scorer(policy, &scorer, &mine), VASE_OK);
  const float rows[3] = {1, 2, 3};
  vase_select_input input;
  vase_select_input_init(&input, sizeof input);
  input.rows = 3;
  input.head_dim = 1;
  input.keys = input.values = rows;
  input.budget = 2;
  input.buffer = 1;
  vase_selection* selection = nullptr;
  EXPECT_EQ(vase_select(mine, &input, &selection), VASE_INTERNAL);
  EXPECT_STREQ(vase_error_message(), "thrown by a scorer");
  EXPECT_EQ(selection, nullptr);
  vase_policy_free(mine);
  vase_policy_free(policy);
}

}  // namespace
