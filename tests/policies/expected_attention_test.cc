// expected-attention: by hand without rotation, and against the definition with a d x d covariance.
#include <cmath>
#include <limits>

#include "policies/rope_turns.h"
#include "policies/small_head.h"

namespace vase {
namespace {

using Kept = std::vector<uint32_t>;
using Matrix = std::vector<std::vector<double>>;

// Queries (1, 0) and (3, 0) at frequency 0: mean (2, 0), covariance 1 of the first channel. With d = 2, a key (a, 0)
// has e = 2 a / sqrt 2 + a^2 / 4.
SmallHead two_queries() {
  SmallHead head(3, 1, 2, 1, 2, 2);
  head.positions = {10, 11, 12};
  head.frequencies = {0};
  head.set_query(0, 0, {1, 0});
  head.set_query(1, 0, {3, 0});
  const float root = std::sqrt(2.0f);
  head.set(head.keys, 0, {root, 0});   // e = 2 + 1/2
  head.set(head.keys, 1, {-root, 0});  // e = -2 + 1/2
  head.set(head.values, 0, {3, 4});
  head.set(head.values, 1, {0, 200});
  head.set(head.values, 2, {1, 0});
  return head;
}

TEST(ExpectedAttention, ByHand) {
  const SmallHead head = two_queries();
  const double a = std::exp(2.5), b = std::exp(-1.5), c = 1, total = a + b + c;  // 12.18, 0.22, 1
  expect_near(scores_of("expected-attention", head.view()), {a / total * 5, b / total * 200, c / total}, 1e-4);
  EXPECT_EQ(plan_of("score=expected-attention", head.view()), (Kept{0, 1}));
  expect_near(scores_of("expected-attention:epsilon=0.5", head.view()),
              {(a / total + 0.5) * 5, (b / total + 0.5) * 200, c / total + 0.5}, 1e-4);
}

TEST(ExpectedAttention, SinksHaveNoShare) {
  SmallHead head = two_queries();
  head.positions = {3, 11, 12};
  const double b = std::exp(-1.5), c = 1;
  expect_near(scores_of("expected-attention", head.view()), {0, b / (b + c) * 200, c / (b + c)}, 1e-4);
  EXPECT_EQ(plan_of("expected-attention", two_queries().view()), (Kept{0, 1}));
}

Matrix rotation_at(const Rope& rope, int d, int64_t position) {
  Matrix rotation(d, std::vector<double>(d));
  for (int c = 0; c < d; ++c) rotation[c][c] = 1;
  for (int f = 0; f < static_cast<int>(rope.frequencies.size()); ++f) {
    const auto [x, y] = pair_channels(rope, f);
    const double angle = double(position) * rope.frequencies[f];
    rotation[x][x] = rotation[y][y] = rope.magnitude * std::cos(angle);
    rotation[x][y] = -rope.magnitude * std::sin(angle);
    rotation[y][x] = rope.magnitude * std::sin(angle);
  }
  return rotation;
}

std::vector<double> times(const Matrix& m, const std::vector<double>& x) {
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) out[i] += m[i][j] * x[j];
  }
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// e_j of one query head, with the average rotation and the covariance as matrices.
std::vector<double> direct_logits(const HeadView& head, int g, int queries, int future) {
  const int d = head.keys.width, held = head.queries.count;
  std::vector<std::vector<double>> rows;
  std::vector<double> mean(d);
  for (int w = held - queries; w < held; ++w) {
    const std::span<const float> query = head.queries.row(w, g);
    const auto row = unrotated(head.rope, head.seen - held + w, {query.begin(), query.end()});
    rows.emplace_back(row.begin(), row.end());
    for (int c = 0; c < d; ++c) mean[c] += rows.back()[c] / queries;
  }
  Matrix covariance(d, std::vector<double>(d)), average = covariance;
  for (const auto& row : rows) {
    for (int a = 0; a < d; ++a) {
      for (int b = 0; b < d; ++b) covariance[a][b] += (row[a] - mean[a]) * (row[b] - mean[b]) / queries;
    }
  }
  for (int64_t p = head.seen; p < head.seen + future; ++p) {
    const Matrix rotation = rotation_at(head.rope, d, p);
    for (int a = 0; a < d; ++a) {
      for (int b = 0; b < d; ++b) average[a][b] += rotation[a][b] / future;
    }
  }
  Matrix transposed = average;
  for (int a = 0; a < d; ++a) {
    for (int b = 0; b < d; ++b) transposed[a][b] = average[b][a];
  }
  std::vector<double> logits;
  for (int j = 0; j < head.candidates(); ++j) {
    const auto key = row_of(head.keys, j), back = times(transposed, key);
    logits.push_back(dot(times(average, mean), key) / std::sqrt(double(d)) +
                     dot(back, times(covariance, back)) / (2 * d));
  }
  return logits;
}

TEST(ExpectedAttention, EqualsTheDefinitionWithACovariance) {
  for (int group : {1, 2, 5, 8}) {
    for (bool adjacent : {false, true}) {
      TestHead head({.candidates = 40, .budget = 40, .buffer = 10, .head_dim = group == 1 ? 128 : 32, .group = group,
                     .type = adjacent ? RowType::kF16 : RowType::kF32, .shuffled = true});
      head.view.rope.adjacent = adjacent;
      head.view.rope.magnitude = group == 2 ? 1.5f : 1;
      for (int queries : {2, 32}) {
        std::vector<double> want(40);
        for (int g = 0; g < group; ++g) {
          const auto logits = direct_logits(head.view, g, queries, 100);
          double total = 0;
          for (int j = 0; j < 40; ++j) total += head.positions[j] < 4 ? 0 : std::exp(logits[j] + head.log_weight[j]);
          for (int j = 0; j < 40; ++j) {
            if (head.positions[j] >= 4) want[j] += std::exp(logits[j] + head.log_weight[j]) / total / group;
          }
        }
        const auto actual =
            scores_of("expected-attention:queries=" + std::to_string(queries) + ",future=100", head.view);
        for (int j = 0; j < 40; ++j) {
          const auto value = row_of(head.view.values, j);
          const double score = want[j] * std::sqrt(dot(value, value));
          EXPECT_NEAR(actual[j], score, 5e-5 * score + 1e-9) << group << " " << adjacent << " " << queries;
        }
      }
    }
  }
}

TEST(ExpectedAttention, ABrokenKeySpoilsNoOtherAndTiesKeepTheOldest) {
  SmallHead head = two_queries();
  head.set(head.keys, 2, {std::numeric_limits<float>::quiet_NaN(), 0});
  const auto scores = scores_of("expected-attention", head.view());
  EXPECT_NEAR(scores[0] / 5 + scores[1] / 200, 1, 1e-5);
  EXPECT_TRUE(std::isnan(scores[2]));
  SmallHead equal(9, 2, 3, 1, 2, 0);  // no queries yet, values of zero
  equal.frequencies = {1};
  EXPECT_EQ(plan_of("score=expected-attention", equal.view()), indices(3));
}

TEST(ExpectedAttention, TextNeedsAndRange) {
  EXPECT_EQ(Policy::parse("score=expected-attention").text(),
            "score=expected-attention:queries=16,future=512 select=top");
  const Policy policy = Policy::parse("score=expected-attention:epsilon=0.01,future=9,queries=5");
  EXPECT_EQ(policy.text(), "score=expected-attention:queries=5,future=9,epsilon=0.01 select=top");
  EXPECT_EQ(policy.needs().queries, 5);
  EXPECT_TRUE(policy.needs().rope);
  EXPECT_EQ(parse_error("score=expected-attention:queries=0").rfind("policy, character 34: ", 0), 0u);
  EXPECT_EQ(parse_error("score=expected-attention:future=65537").rfind("policy, character 33: ", 0), 0u);
  EXPECT_EQ(parse_error("score=expected-attention:epsilon=-1").rfind("policy, character 34: ", 0), 0u);
}

}  // namespace
}  // namespace vase
