// fused against reference over every axis of the contract.
#include "kernels/slot_attention/slot_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/attention_problem.h"
#include "kernels/on_every_target.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

constexpr double kRelativeError = 2e-6;
constexpr double kMassError = 1e-5;

// 11 of them: coprime to the paces of the other axes in sample().
const std::vector<int> kHeadDims = {20, 32, 64, 80, 96, 100, 112, 128, 224, 256, 320};

// Mass of single slots may be tiny; the error is measured against the slot's own mass and the mean mass.
void expect_mass(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  double total = 0;
  for (float m : expected) total += m;
  for (size_t s = 0; s < expected.size(); ++s) {
    ASSERT_NEAR(actual[s], expected[s], kMassError * (expected[s] + total / expected.size())) << "slot " << s;
  }
}

void expect_fused_equals_reference(const ProblemShape& shape) {
  SCOPED_TRACE(shape.describe());
  const AttentionProblem problem(shape);
  const auto expected = problem.run(Path::kReference);
  on_every_target([&] {
    const auto actual = problem.run(Path::kFused);
    EXPECT_LE(worst_row_error(actual.out, expected.out, shape.head_dim), kRelativeError);
    expect_mass(actual.mass, expected.mass);
  });
}

void set_head_dim(ProblemShape& shape, int head_dim) {
  shape.head_dim = head_dim;
  shape.k_type = test::row_type(static_cast<int>(shape.seed));
  shape.v_type = test::row_type(static_cast<int>(shape.seed) / 3);
}

// Walks the axes at different paces, so that every value of every axis meets many values of the others.
ProblemShape sample(int index, int tokens, int slots_before) {
  ProblemShape shape;
  shape.group = 1 + index * 3 % 8;
  shape.tokens = tokens;
  shape.slots_before = slots_before;
  shape.strided = index / 2 % 2;
  shape.misaligned = index / 3 % 2;
  shape.log_weight = index / 5 % 2;
  shape.mass = index % 4 != 0;
  shape.candidates = std::max(1, (slots_before + 1) * (1 + index % 3) / 3);
  shape.first_token = index % 2 ? tokens / 2 : 0;
  shape.temperature = index % 8 == 5 ? 1.7f : 1.0f;
  shape.seed = index;
  set_head_dim(shape, kHeadDims[index % kHeadDims.size()]);
  return shape;
}

TEST(SlotAttention, DecodeEqualsReference) {
  int index = 0;
  for (int n : {1, 2, 3, 15, 16, 17, 255, 256, 257, 511, 512, 513, 1000, 4096, 4097}) {
    for (int repeat = 0; repeat < 3; ++repeat) expect_fused_equals_reference(sample(index++, 1, n - 1));
  }
}

TEST(SlotAttention, EveryGroupAndHeadDim) {
  int index = 0;
  for (int group = 1; group <= 16; ++group) {
    for (int head_dim : kHeadDims) {
      ProblemShape shape = sample(index++, 1, 40);
      shape.group = group;
      set_head_dim(shape, head_dim);
      expect_fused_equals_reference(shape);
    }
  }
}

// Groups beyond a tile of rows, up to the most query heads that a model file may have.
TEST(SlotAttention, LargeGroups) {
  int index = 0;
  for (int group : {17, 63, 64, 65, 200, 1024}) {
    for (int tokens : {1, 3}) {
      ProblemShape shape = sample(index++, tokens, 280);
      set_head_dim(shape, 32);
      shape.group = group;
      shape.mass = true;
      expect_fused_equals_reference(shape);
    }
  }
}

// Keys and values stored alike or not: against the reference, in decode, in pieces, and in a run.
TEST(SlotAttention, KeysAndValuesOfDifferentTypes) {
  int index = 0;
  for (RowType k_type : kRowTypes) {
    for (RowType v_type : kRowTypes) {
      for (int tokens : {1, 1, 1, 2, 70}) {
        ProblemShape shape = sample(index++, tokens, 600);
        shape.head_dim = kHeadDims[index % kHeadDims.size()];
        shape.k_type = k_type;
        shape.v_type = v_type;
        shape.mass = true;
        expect_fused_equals_reference(shape);
        SCOPED_TRACE(shape.describe());
        const AttentionProblem problem(shape);
        on_every_target([&] {
          const auto whole = problem.run(Path::kFused);
          const auto parts = tokens == 1 ? problem.run_pieces(Path::kFused, {2, 0, 1})
                                         : problem.run_token_by_token(Path::kFused);
          EXPECT_EQ(whole.out, parts.out);
          EXPECT_EQ(whole.mass, parts.mass);
        });
      }
    }
  }
}

TEST(SlotAttention, PrefillEqualsReference) {
  int index = 0;
  for (int tokens : {2, 7, 64, 300}) {
    for (int before : {0, 5, 250, 700}) {
      ProblemShape shape = sample(index++, tokens, before);
      if (tokens == 300) shape.group = 1 + shape.group % 3;  // the reference takes long
      expect_fused_equals_reference(shape);
    }
  }
}

// Threads may share a head by segments in any order.
TEST(SlotAttention, PiecesGiveTheSameBits) {
  for (int index = 0; index < 12; ++index) {
    const ProblemShape shape = sample(index, 1, 1100);
    SCOPED_TRACE(shape.describe());
    const AttentionProblem problem(shape);
    on_every_target([&] {
      const auto whole = problem.run(Path::kFused);
      const auto pieces = problem.run_pieces(Path::kFused, {3, 0, 4, 1, 2});
      EXPECT_EQ(whole.out, pieces.out);
      EXPECT_EQ(whole.mass, pieces.mass);
    });
    EXPECT_EQ(problem.run(Path::kReference).out, problem.run_pieces(Path::kReference, {4, 3, 2, 1, 0}).out);
  }
}

TEST(SlotAttention, RunOfTokensGivesTheSameBitsAsTokenByToken) {
  int index = 0;
  for (int tokens : {2, 7, 64, 300}) {
    for (int before : {0, 1, 200, 600}) {
      const ProblemShape shape = sample(index++, tokens, before);
      SCOPED_TRACE(shape.describe());
      const AttentionProblem problem(shape);
      on_every_target([&] {
        const auto run = problem.run(Path::kFused);
        const auto single = problem.run_token_by_token(Path::kFused);
        EXPECT_EQ(run.out, single.out);
        EXPECT_EQ(run.mass, single.mass);
      });
    }
  }
}

TEST(SlotAttention, MassLeavesTheOutputAlone) {
  for (int index = 0; index < 12; ++index) {
    for (int tokens : {1, 9}) {
      ProblemShape shape = sample(index, tokens, 700);
      SCOPED_TRACE(shape.describe());
      shape.mass = false;
      const auto without = AttentionProblem(shape).run(Path::kFused).out;
      shape.mass = true;
      EXPECT_EQ(AttentionProblem(shape).run(Path::kFused).out, without);
    }
  }
}

}  // namespace
}  // namespace vase::kernels
