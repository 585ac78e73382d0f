// Single cases of slot attention whose answer is known by hand or follows from a law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/attention_problem.h"
#include "kernels/on_every_target.h"
#include "kernels/slot_attention/slot_attention.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Both paths, and the fused one on every target.
template <class Check>
void on_every_path(Check check) {
  {
    SCOPED_TRACE("reference");
    check(Path::kReference);
  }
  on_every_target([&] { check(Path::kFused); });
}

// Logits ln 1, ln 2, ln 5 by way of the log-weight alone: probabilities 1/8, 2/8, 5/8 by hand.
TEST(SlotAttentionCases, HandComputed) {
  ProblemShape shape{.head_dim = 32,
                     .group = 1,
                     .slots_before = 2,
                     .k_type = RowType::kF32,
                     .v_type = RowType::kF32,
                     .log_weight = true};
  shape.mass = true;
  shape.candidates = 2;
  AttentionProblem problem(shape);
  std::fill(problem.queries().begin(), problem.queries().end(), 0.0f);
  problem.log_weights() = {std::log(1.0f), std::log(2.0f), std::log(5.0f)};
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < 32; ++i) problem.set_value(s, i, i == s ? 8.0f : 0.0f);
  }
  on_every_path([&](Path path) {
    SlotAttentionArgs args = problem.args();
    args.log_weight = problem.log_weights().data();
    std::vector<float> out(32), mass(2), scratch;
    args.out = out.data();
    args.mass.sum = mass.data();
    scratch.resize(slot_attention_scratch(args));
    slot_attention(path, args, scratch);
    EXPECT_NEAR(out[0], 1, 1e-6);
    EXPECT_NEAR(out[1], 2, 1e-6);
    EXPECT_NEAR(out[2], 5, 1e-6);
    EXPECT_EQ(out[3], 0);
    EXPECT_NEAR(mass[0], 1.0 / 3, 1e-6);
    EXPECT_NEAR(mass[1], 2.0 / 3, 1e-6);
  });
}

// Mass against its definition (softmax over the candidates only), written out in double.
TEST(SlotAttentionCases, MassIsASoftmaxOverTheCandidates) {
  for (float temperature : {1.0f, 0.5f, 3.0f}) {
    for (int candidates : {1, 100, 256, 300, 512, 599, 601}) {
      ProblemShape shape{.head_dim = 80,
                         .group = 5,
                         .slots_before = 600,
                         .k_type = RowType::kF32,
                         .v_type = RowType::kF32,
                         .log_weight = true};
      shape.mass = true;
      shape.candidates = candidates;
      shape.temperature = temperature;
      SCOPED_TRACE(shape.describe());
      AttentionProblem problem(shape);
      std::vector<double> expected(candidates);
      for (int g = 0; g < shape.group; ++g) {
        std::vector<double> e(candidates);
        for (int s = 0; s < candidates; ++s) {
          double dot = 0;
          for (int i = 0; i < shape.head_dim; ++i) {
            dot += double(problem.queries()[g * problem.args().q_head_stride + i]) * problem.key(s, i);
          }
          e[s] = std::exp((dot / std::sqrt(80.0) + problem.log_weights()[s]) / temperature);
        }
        const double sum = std::accumulate(e.begin(), e.end(), 0.0);
        for (int s = 0; s < candidates; ++s) expected[s] += e[s] / sum;
      }
      on_every_path([&](Path path) {
        const auto mass = problem.run(path).mass;
        for (int s = 0; s < candidates; ++s)
          ASSERT_NEAR(mass[s], expected[s], 1e-5 * expected[s]) << "slot " << s;
      });
    }
  }
}

// A slot behind the candidates takes all attention, by far more than f32 can express as a ratio; the
// candidates still share one unit per query.
TEST(SlotAttentionCases, MassSurvivesADominantSlotBehindTheCandidates) {
  for (int candidates : {40, 256, 300}) {
    ProblemShape shape{.group = 3, .slots_before = 330, .log_weight = true};
    shape.mass = true;
    shape.candidates = candidates;
    AttentionProblem problem(shape);
    problem.log_weights()[330] = 1000;
    on_every_path([&](Path path) {
      const auto mass = problem.run(path).mass;
      EXPECT_NEAR(std::accumulate(mass.begin(), mass.end(), 0.0), 3.0, 1e-5);
    });
  }
}

TEST(SlotAttentionCases, MassIsAddedNotSet) {
  ProblemShape shape{.slots_before = 20};
  const AttentionProblem problem(shape);
  on_every_path([&](Path path) {
    SlotAttentionArgs args = problem.args();
    std::vector<float> out(4 * args.out_head_stride), mass(10, 5.0f), scratch;
    args.out = out.data();
    args.mass.sum = mass.data();
    args.mass.candidates = 10;
    scratch.resize(slot_attention_scratch(args));
    slot_attention(path, args, scratch);
    EXPECT_NEAR(std::accumulate(mass.begin(), mass.end(), 0.0), 54.0, 1e-4);
  });
}

// A row whose logits are all -inf gives zeros and no mass.
TEST(SlotAttentionCases, AllMinusInfinityGivesZeros) {
  for (int tokens : {1, 5}) {
    ProblemShape shape{.tokens = tokens, .slots_before = 700, .log_weight = true};
    shape.mass = true;
    shape.candidates = 300;
    AttentionProblem problem(shape);
    std::fill(problem.log_weights().begin(), problem.log_weights().end(), -kInfinity);
    on_every_path([&](Path path) {
      const auto result = problem.run(path);
      EXPECT_EQ(std::count(result.out.begin(), result.out.end(), 0.0f), std::ssize(result.out));
      EXPECT_EQ(std::count(result.mass.begin(), result.mass.end(), 0.0f), 300);
    });
  }
}

// -inf on whole segments and on single slots takes exactly those slots out.
TEST(SlotAttentionCases, MinusInfinityTakesSlotsOut) {
  ProblemShape shape{
      .slots_before = 599, .k_type = RowType::kF32, .v_type = RowType::kF32, .log_weight = true};
  shape.mass = true;
  shape.candidates = 590;
  AttentionProblem problem(shape);
  auto& weights = problem.log_weights();
  std::fill(weights.begin(), weights.begin() + 256, -kInfinity);
  weights[300] = weights[599] = -kInfinity;
  const auto expected = problem.run(Path::kReference);
  on_every_target([&] {
    const auto actual = problem.run(Path::kFused);
    EXPECT_LE(worst_row_error(actual.out, expected.out, shape.head_dim), 2e-6);
    EXPECT_EQ(std::count(actual.mass.begin(), actual.mass.begin() + 256, 0.0f), 256);
    EXPECT_EQ(actual.mass[300], 0);
    EXPECT_NEAR(std::accumulate(actual.mass.begin(), actual.mass.end(), 0.0), 4.0, 1e-5);
  });
}

// q = k = 300 in 128 channels: the dot product is far beyond half precision.
TEST(SlotAttentionCases, HugeLogitsStayFinite) {
  for (RowType type : kRowTypes) {
    for (int keys : {1, 3}) {
      ProblemShape shape{
          .head_dim = 128, .group = 2, .slots_before = keys - 1, .k_type = type, .v_type = type};
      AttentionProblem problem(shape);
      std::fill(problem.queries().begin(), problem.queries().end(), 300.0f);
      for (int s = 0; s < keys; ++s) {
        for (int i = 0; i < 128; ++i) {
          problem.set_key(s, i, 300);
          problem.set_value(s, i, static_cast<float>(s + 1));
        }
      }
      const float expected = keys == 1 ? 1.0f : 2.0f;
      on_every_path([&](Path path) {
        for (float x : problem.run(path).out) ASSERT_NEAR(x, expected, 1e-6);
      });
    }
  }
}

// Stale NaN behind the slots used, between rows and in front of them changes no bit.
TEST(SlotAttentionCases, FreeRowsAreNeverRead) {
  for (int n : {32, 64, 96, 48, 257, 511}) {
    for (int i = 0; i < 8; ++i) {
      const int tokens = i % 2 ? 6 : 1, head_dim = i < 4 ? 100 : 96;
      const RowType type = test::row_type(i / 2);
      ProblemShape shape{.head_dim = head_dim, .group = 3, .tokens = tokens, .slots_before = n - tokens,
                         .k_type = type, .v_type = type, .strided = true};
      shape.mass = true;
      shape.candidates = n / 2;
      const AttentionProblem poisoned(shape);
      shape.free_fill = std::byte{0};
      const AttentionProblem clean(shape);
      on_every_path([&](Path path) {
        const auto a = poisoned.run(path), b = clean.run(path);
        EXPECT_EQ(a.out, b.out);
        EXPECT_EQ(a.mass, b.mass);
      });
    }
  }
}

#ifndef NDEBUG
// Neither the whole run nor a piece of it starts on a scratch that is too small.
TEST(SlotAttentionCasesDeathTest, DebugBuildsRefuseAShortScratch) {
  const AttentionProblem problem(ProblemShape{.slots_before = 300});
  const SlotAttentionArgs& args = problem.args();
  std::vector<float> scratch(slot_attention_scratch(args) - 1);
  for (Path path : {Path::kReference, Path::kFused}) {
    EXPECT_DEATH(slot_attention(path, args, scratch), "scratch");
    EXPECT_DEATH(slot_attention_prepare(path, args, scratch), "scratch");
    EXPECT_DEATH(slot_attention_segment(path, args, 0, scratch), "scratch");
    EXPECT_DEATH(slot_attention_finish(path, args, scratch), "scratch");
  }
}
#endif

// A NaN that the model did produce must reach the output, where the engine looks for it.
TEST(SlotAttentionCases, NanInAVisibleRowReachesTheOutput) {
  for (RowType type : kRowTypes) {
    AttentionProblem problem(ProblemShape{.slots_before = 400, .k_type = type});
    problem.set_key(77, 3, std::numeric_limits<float>::quiet_NaN());
    on_every_target([&] {
      for (float x : problem.run(Path::kFused).out) ASSERT_TRUE(std::isnan(x));
    });
  }
}

}  // namespace
}  // namespace vase::kernels
