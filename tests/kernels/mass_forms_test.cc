// The forms of attention mass: fused against reference, the same bits in any division of the work, and answers by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/attention_problem.h"
#include "kernels/on_every_target.h"
#include "kernels/slot_attention/slot_attention.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

constexpr MassForm kForms[] = {MassForm::kSum, MassForm::kSquares, MassForm::kMax, MassForm::kRecurrence};

void expect_equal(const AttentionProblem::Result& a, const AttentionProblem::Result& b) {
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.last_use, b.last_use);
  EXPECT_EQ(a.longest_gap, b.longest_gap);
}

// Problems of every form; `whole`: every token's own probabilities count.
std::vector<ProblemShape> problems(int tokens, int slots_before) {
  std::vector<ProblemShape> list;
  for (const MassForm form : kForms) {
    for (const bool whole : {false, true}) {
      const int index = static_cast<int>(list.size()), slots = slots_before + tokens;
      list.push_back({.head_dim = index % 3 == 0 ? 64 : 80,
                      .group = 1 + index % 5,
                      .tokens = tokens,
                      .slots_before = slots_before,
                      .k_type = test::row_type(index / 3),
                      .log_weight = index % 4 != 1,
                      .mass = true,
                      .candidates = whole ? slots : std::max(1, slots * 2 / 3),
                      .first_token = index % 3 == 1 ? tokens / 2 : 0,
                      .temperature = index % 4 == 2 ? 1.6f : 1.0f,
                      .form = form,
                      .threshold = std::min(0.5f, 1.5f / static_cast<float>(slots)),
                      .seed = 77u + index});
    }
  }
  return list;
}

void expect_mass(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  const double mean = std::accumulate(expected.begin(), expected.end(), 0.0) / expected.size();
  for (size_t s = 0; s < expected.size(); ++s) {
    ASSERT_NEAR(actual[s], expected[s], 2e-5 * (expected[s] + mean)) << "slot " << s;
  }
}

// Where the reference is the same just above and just below the threshold, rounding does not decide.
void expect_uses(const AttentionProblem& problem, float threshold, const AttentionProblem::Result& actual) {
  const auto above = problem.run(Path::kReference, threshold * (1 + 1e-5f));
  const auto below = problem.run(Path::kReference, threshold * (1 - 1e-5f));
  size_t decided = 0, used = 0;
  for (size_t s = 0; s < above.last_use.size(); ++s) {
    if (above.last_use[s] != below.last_use[s] || above.longest_gap[s] != below.longest_gap[s]) continue;
    ++decided;
    used += above.last_use[s] >= 5000;
    ASSERT_EQ(actual.last_use[s], above.last_use[s]) << "slot " << s;
    ASSERT_EQ(actual.longest_gap[s], above.longest_gap[s]) << "slot " << s;
  }
  EXPECT_GE(decided * 100, above.last_use.size() * 98);
  EXPECT_GT(used, 0u);
}

TEST(MassForms, FusedEqualsReference) {
  for (const auto& [tokens, before] : {std::pair{1, 0}, {1, 300}, {1, 1029}, {9, 250}, {70, 500}, {40, 0}}) {
    for (const ProblemShape& shape : problems(tokens, before)) {
      SCOPED_TRACE(shape.describe());
      const AttentionProblem problem(shape);
      const auto expected = problem.run(Path::kReference);
      on_every_target([&] {
        const auto actual = problem.run(Path::kFused);
        EXPECT_LE(worst_row_error(actual.out, expected.out, shape.head_dim), 2e-6);
        expect_mass(actual.mass, expected.mass);
        if (shape.form == MassForm::kRecurrence) expect_uses(problem, shape.threshold, actual);
      });
    }
  }
}

TEST(MassForms, RunOfTokensGivesTheSameBitsAsTokenByToken) {
  for (const auto& [tokens, before] : {std::pair{7, 0}, {64, 200}, {100, 700}}) {
    for (const ProblemShape& shape : problems(tokens, before)) {
      SCOPED_TRACE(shape.describe());
      const AttentionProblem problem(shape);
      on_every_target([&] { expect_equal(problem.run(Path::kFused), problem.run_token_by_token(Path::kFused)); });
      expect_equal(problem.run(Path::kReference), problem.run_token_by_token(Path::kReference));
    }
  }
}

TEST(MassForms, PiecesGiveTheSameBits) {
  for (const ProblemShape& shape : problems(1, 1100)) {
    SCOPED_TRACE(shape.describe());
    const AttentionProblem problem(shape);
    on_every_target(
        [&] { expect_equal(problem.run(Path::kFused), problem.run_pieces(Path::kFused, {3, 0, 4, 1, 2})); });
  }
}

TEST(MassForms, LeaveTheOutputAlone) {
  for (const int tokens : {1, 9}) {
    for (ProblemShape shape : problems(tokens, 600)) {
      SCOPED_TRACE(shape.describe());
      const auto with = AttentionProblem(shape).run(Path::kFused).out;
      shape.mass = false;
      EXPECT_EQ(with, AttentionProblem(shape).run(Path::kFused).out);
    }
  }
}

// One head, zero query, weights 1, 2, 5 and the token's own 8 by way of the log-weight; two tokens.
// Token 0 sees three slots (its own is the third), token 1 four.
class ByHand : public testing::Test {
 protected:
  ByHand() { std::fill(problem_.queries().begin(), problem_.queries().end(), 0.0f); }

  template <class Check>
  void on_every_path(MassArgs mass, Check check) {
    const auto run = [&](Path path) {
      SlotAttentionArgs args = problem_.args();
      const std::vector<float> weights = {std::log(1.0f), std::log(2.0f), std::log(5.0f), std::log(8.0f)};
      std::vector<float> sum(4, 0.25f), out(2 * args.out_token_stride);
      std::vector<int32_t> last_use = {3, 4, 10, 11}, longest_gap = {2, 9, 0, 0};
      args.log_weight = weights.data();
      args.out = out.data();
      args.mass = mass;
      args.mass.sum = sum.data();
      args.mass.last_use = last_use.data();
      args.mass.longest_gap = longest_gap.data();
      args.mass.position = 10;
      std::vector<float> scratch(slot_attention_scratch(args));
      slot_attention(path, args, scratch);
      check(sum, last_use, longest_gap);
    };
    run(Path::kReference);
    on_every_target([&] { run(Path::kFused); });
  }

  AttentionProblem problem_{
      ProblemShape{.head_dim = 32, .group = 1, .tokens = 2, .slots_before = 2, .log_weight = true}};
};

TEST_F(ByHand, LifetimeSum) {  // 1/8, 2/8, 5/8 and then 1/16, 2/16, 5/16, 8/16
  on_every_path({.candidates = 4}, [](const auto& sum, const auto&, const auto&) {
    EXPECT_NEAR(sum[0], 0.25 + 0.125 + 0.0625, 1e-6);
    EXPECT_NEAR(sum[1], 0.25 + 0.25 + 0.125, 1e-6);
    EXPECT_NEAR(sum[2], 0.25 + 0.625 + 0.3125, 1e-6);
    EXPECT_NEAR(sum[3], 0.25 + 0.5, 1e-6);
  });
}

TEST_F(ByHand, SquaresOverTwoCandidates) {  // 1/3 and 2/3, twice
  on_every_path({.form = MassForm::kSquares, .candidates = 2}, [](const auto& sum, const auto&, const auto&) {
    EXPECT_NEAR(sum[0], 0.25 + 2.0 / 9, 1e-6);
    EXPECT_NEAR(sum[1], 0.25 + 8.0 / 9, 1e-6);
    EXPECT_EQ(sum[2], 0.25f);
  });
}

TEST_F(ByHand, MaxKeepsTheLargest) {  // of 0.25 and 1/3, 2/3; at temperature 1/2 of 1/5 and 4/5
  on_every_path({.form = MassForm::kMax, .candidates = 2}, [](const auto& sum, const auto&, const auto&) {
    EXPECT_NEAR(sum[0], 1.0 / 3, 1e-6);
    EXPECT_NEAR(sum[1], 2.0 / 3, 1e-6);
  });
  on_every_path({.form = MassForm::kMax, .candidates = 2, .temperature = 0.5f},
                [](const auto& sum, const auto&, const auto&) {
                  EXPECT_EQ(sum[0], 0.25f);
                  EXPECT_NEAR(sum[1], 0.8, 1e-6);
                });
}

// At 0.2: token 10 uses slots 1 (2/8) and 2 (5/8), token 11 slots 2 (5/16) and 3 (8/16).
TEST_F(ByHand, RecurrenceOfUses) {
  on_every_path({.form = MassForm::kRecurrence, .candidates = 4, .threshold = 0.2f},
                [](const auto& sum, const auto& last_use, const auto& longest_gap) {
                  EXPECT_EQ(sum, std::vector<float>(4, 0.25f));
                  EXPECT_EQ(last_use, (std::vector<int32_t>{3, 10, 11, 11}));
                  EXPECT_EQ(longest_gap, (std::vector<int32_t>{2, 9, 1, 0}));
                });
}

// The largest of the group counts: heads 0 and 1 look at different slots.
TEST(MassFormsByHand, RecurrenceTakesTheGroupsLargest) {
  ProblemShape shape{.head_dim = 32, .group = 2, .slots_before = 19, .k_type = RowType::kF32, .mass = true,
                     .candidates = 20, .form = MassForm::kRecurrence, .threshold = 0.5f};
  AttentionProblem problem(shape);
  std::fill(problem.queries().begin(), problem.queries().end(), 0.0f);
  problem.queries()[0] = 100;                                // head 0: channel 0
  problem.queries()[problem.args().q_head_stride + 1] = 100;  // head 1: channel 1
  for (int s = 0; s < 20; ++s) {
    problem.set_key(s, 0, s == 4 ? 10.0f : 0.0f);
    problem.set_key(s, 1, s == 18 ? 10.0f : 0.0f);
  }
  const auto check = [&](Path path) {
    const auto result = problem.run(path);
    for (int s = 0; s < 20; ++s) EXPECT_EQ(result.last_use[s], s == 4 || s == 18 ? 5000 : s) << "slot " << s;
  };
  check(Path::kReference);
  on_every_target([&] { check(Path::kFused); });
}

}  // namespace
}  // namespace vase::kernels
