// Attention over older slots in strips, or in rows of another type, beside the run's: fused against reference, and the
// same bits however the work is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/attention_problem.h"
#include "kernels/on_every_target.h"

namespace vase::kernels {
namespace {

constexpr double kRelativeError = 2e-5;
constexpr double kMassError = 2e-5;

// Sizes as given; everything else is drawn, so that no axis goes with another.
ProblemShape sample(uint32_t seed, int tokens, int slots_before, int older) {
  std::mt19937 random(seed);
  const auto pick = [&](int count) { return static_cast<int>(random() % count); };
  const int head_dims[] = {32, 64, 96, 128, 256};
  const MassForm forms[] = {MassForm::kSum, MassForm::kSquares, MassForm::kMax};
  ProblemShape shape;
  shape.head_dim = head_dims[pick(5)];
  shape.group = 1 + pick(8);
  shape.tokens = tokens;
  shape.slots_before = slots_before;
  shape.older = older;
  shape.older_keys_in_strips = pick(4) > 0;
  shape.older_values_in_strips = pick(4) > 0;
  shape.older_key_bits = pick(2) ? CodeBits::k4 : CodeBits::k8;
  shape.older_value_bits = pick(2) ? CodeBits::k4 : CodeBits::k8;
  shape.offset_pairs = shape.older_keys_in_strips && pick(2) ? 8 : 0;
  shape.log_weight = pick(2);
  shape.mass = pick(4) > 0;
  shape.candidates = (slots_before + tokens) * pick(3) / 3;
  shape.first_token = pick(2) ? tokens / 2 : 0;
  shape.temperature = pick(4) ? 1.0f : 1.7f;
  shape.form = forms[pick(3)];
  shape.seed = seed;
  return shape;
}

// Every combination of the kinds of rows, heads and records, at small sizes: two strips and a part of one.
std::vector<ProblemShape> every_kind(int tokens, int slots_before) {
  std::vector<ProblemShape> shapes;
  for (const CodeBits key_bits : {CodeBits::k8, CodeBits::k4}) {
    for (const CodeBits value_bits : {CodeBits::k8, CodeBits::k4}) {
      for (const int group : {1, 3, 4, 6, 7}) {
        for (const bool log_weight : {false, true}) {
          for (const MassForm form : {MassForm::kSum, MassForm::kMax}) {
            for (const int offset_pairs : {0, 8}) {
              shapes.push_back({.head_dim = 64,
                                .group = group,
                                .tokens = tokens,
                                .slots_before = slots_before,
                                .log_weight = log_weight,
                                .older = 37,
                                .older_key_bits = key_bits,
                                .older_value_bits = value_bits,
                                .offset_pairs = offset_pairs,
                                .mass = true,
                                .candidates = slots_before / 2,
                                .form = form,
                                .seed = static_cast<uint32_t>(shapes.size())});
            }
          }
        }
      }
    }
  }
  return shapes;
}

std::vector<ProblemShape> decode_shapes() {
  std::vector<ProblemShape> shapes;
  uint32_t seed = 0;
  for (const int older : {1, 15, 16, 255, 256, 257, 1000}) {
    for (const int before : {0, 1, 63, 300}) shapes.push_back(sample(seed++, 1, before, older));
  }
  return shapes;
}

std::vector<ProblemShape> prefill_shapes() {
  std::vector<ProblemShape> shapes;
  uint32_t seed = 0;
  for (const int tokens : {2, 7, 70}) {
    for (const int older : {5, 256, 300}) {
      for (const int before : {0, 250}) shapes.push_back(sample(seed++, tokens, before, older));
    }
  }
  return shapes;
}

void expect_mass(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  double total = 0;
  for (const float m : expected) total += m;
  for (size_t s = 0; s < expected.size(); ++s) {
    ASSERT_NEAR(actual[s], expected[s], kMassError * (expected[s] + total / expected.size())) << "slot " << s;
  }
}

void expect_fused_equals_reference(const std::vector<ProblemShape>& shapes) {
  for (const ProblemShape& shape : shapes) {
    SCOPED_TRACE(shape.describe());
    const AttentionProblem problem(shape);
    const auto expected = problem.run(Path::kReference);
    on_every_variant([&] {
      const auto actual = problem.run(Path::kFused);
      EXPECT_LE(worst_row_error(actual.out, expected.out, shape.head_dim), kRelativeError);
      expect_mass(actual.mass, expected.mass);
    });
  }
}

TEST(OlderSlots, DecodeEqualsReference) { expect_fused_equals_reference(decode_shapes()); }
TEST(OlderSlots, PrefillEqualsReference) { expect_fused_equals_reference(prefill_shapes()); }

// Nothing but the token itself beside the older slots, or ten more slots.
TEST(OlderSlots, EveryKindDecodes) {
  for (const int before : {0, 10}) expect_fused_equals_reference(every_kind(1, before));
}
TEST(OlderSlots, EveryKindPrefills) {
  for (const int before : {0, 10}) expect_fused_equals_reference(every_kind(5, before));
}

TEST(OlderSlots, PiecesGiveTheSameBits) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const ProblemShape shape = sample(seed, 1, 300, 600);  // three segments of older slots, two of the run's
    SCOPED_TRACE(shape.describe());
    const AttentionProblem problem(shape);
    on_every_target([&] {
      const auto whole = problem.run(Path::kFused),
                 pieces = problem.run_pieces(Path::kFused, {3, 0, 4, 2, 1});
      EXPECT_EQ(whole.out, pieces.out);
      EXPECT_EQ(whole.mass, pieces.mass);
    });
  }
}

TEST(OlderSlots, RunOfTokensGivesTheSameBitsAsTokenByToken) {
  for (const ProblemShape& shape : prefill_shapes()) {
    SCOPED_TRACE(shape.describe());
    const AttentionProblem problem(shape);
    on_every_target([&] {
      const auto run = problem.run(Path::kFused), single = problem.run_token_by_token(Path::kFused);
      EXPECT_EQ(run.out, single.out);
      EXPECT_EQ(run.mass, single.mass);
    });
  }
}

// The same rows, all in the run's slots or the first of them in slots of their own, share one softmax.
TEST(OlderSlots, RowsOfTheSameTypeGiveWhatOnePartGives) {
  ProblemShape shape = sample(3, 1, 0, 40);
  shape.older_keys_in_strips = shape.older_values_in_strips = shape.log_weight = shape.mass = false;
  shape.offset_pairs = 0;
  const AttentionProblem two(shape);
  const SlotAttentionArgs& args = two.args();
  // By hand: logits of the 40 older rows and of the run's own, a softmax over all.
  std::vector<double> expected(shape.head_dim, 0);
  std::vector<float> row(shape.head_dim);
  double most = -1e30, total = 0;
  std::vector<double> logits;
  const auto rows = [&](const RowsView& older, const RowsView& own, int s) {
    s < shape.older ? read_row(older, s, row.data()) : read_row(own, s - shape.older, row.data());
  };
  for (int s = 0; s <= shape.older; ++s) {
    rows(args.older.k.rows, args.k, s);
    double dot = 0;
    for (int c = 0; c < shape.head_dim; ++c) dot += double(args.q[c]) * row[c];
    logits.push_back(dot * args.scale);
    most = std::max(most, logits.back());
  }
  for (const double logit : logits) total += std::exp(logit - most);
  for (int s = 0; s <= shape.older; ++s) {
    rows(args.older.v.rows, args.v, s);
    for (int c = 0; c < shape.head_dim; ++c) expected[c] += std::exp(logits[s] - most) / total * row[c];
  }
  for (const Path path : {Path::kReference, Path::kFused}) {
    const auto result = two.run(path);
    for (int c = 0; c < shape.head_dim; ++c) EXPECT_NEAR(result.out[c], expected[c], 1e-5) << c;
  }
}

}  // namespace
}  // namespace vase::kernels
