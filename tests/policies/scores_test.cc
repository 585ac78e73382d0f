// Window attention against direct evaluation, smoothing at the edges, leverage, value sizes.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/smoothing/smoothing.h"
#include "kernels/window_scores/window_scores.h"
#include "policies/score/attention.h"
#include "policies/score/leverage.h"
#include "policies/test_head.h"

namespace vase {
namespace {

std::vector<float> smoothed(const std::vector<float>& in, kernels::Divisor divisor) {
  std::vector<float> out(in.size());
  kernels::smooth5(in, divisor, out);
  return out;
}

TEST(Smoothing, EdgesOfAConstant) {
  EXPECT_EQ(smoothed(std::vector<float>(7, 1), kernels::Divisor::kFixed),
            (std::vector<float>{0.6f, 0.8f, 1, 1, 1, 0.8f, 0.6f}));
  EXPECT_EQ(smoothed(std::vector<float>(7, 1), kernels::Divisor::kValid), std::vector<float>(7, 1));
  EXPECT_EQ(smoothed({5}, kernels::Divisor::kFixed), std::vector<float>{1});
  EXPECT_EQ(smoothed({5}, kernels::Divisor::kValid), std::vector<float>{5});
  EXPECT_EQ(smoothed({3, 6}, kernels::Divisor::kValid), (std::vector<float>{4.5f, 4.5f}));
  EXPECT_TRUE(smoothed({}, kernels::Divisor::kValid).empty());
}

TEST(Smoothing, FiveWideMean) {
  EXPECT_EQ(smoothed({0, 0, 0, 10, 0, 0, 0, 5}, kernels::Divisor::kFixed),
            (std::vector<float>{0, 2, 2, 2, 2, 3, 1, 1}));
  EXPECT_EQ(smoothed({0, 0, 0, 10, 0, 0, 0, 5}, kernels::Divisor::kValid),
            (std::vector<float>{0, 2.5f, 2, 2, 2, 3, 1.25f, static_cast<float>(5 / 3.0)}));
}

// The formula of one (query, candidate) pair at a time, in double.
double direct_mass(const std::vector<float>& queries, int rows, const RowsView& keys, int count, double scale, int j) {
  std::vector<float> key(keys.width);
  double mass = 0;
  for (int r = 0; r < rows; ++r) {
    double total = 0, mine = 0;
    for (int c = 0; c < count; ++c) {
      read_row(keys, c, key.data());
      double dot = 0;
      for (int i = 0; i < keys.width; ++i) dot += double(queries[r * keys.width + i]) * key[i];
      total += std::exp(dot * scale);
      if (c == j) mine = std::exp(dot * scale);
    }
    mass += mine / total;
  }
  return mass;
}

TEST(WindowScores, EqualDirectEvaluation) {
  for (RowType type : kRowTypes) {
    const TestHead head({.candidates = 40, .head_dim = 20, .type = type, .shuffled = true});
    const int rows = 6;
    std::vector<float> queries(rows * 20), sum(40, 7.0f);
    PhiloxDraws({.seed = 8}).gaussian(false, queries);
    for (float temperature : {0.5f, 1.0f, 2.0f}) {
      kernels::window_scores(queries, rows, head.view.keys, 0.25f, temperature, sum);
      double total = 0;
      for (int j = 0; j < 40; ++j) {
        const double want = direct_mass(queries, rows, head.view.keys, 40, 0.25 / temperature, j);
        EXPECT_NEAR(sum[j], want, 1e-5 * want);
        total += sum[j];
      }
      EXPECT_NEAR(total, rows, 1e-5);
    }
  }
}

// 300 * 300 * 128 overflows half precision and its exponential overflows everything.
TEST(WindowScores, HugeLogitsStayFinite) {
  std::vector<float> key(3 * 128, 300.0f), query(128, 300.0f);
  for (int count : {1, 3}) {
    const RowsView keys{.base = key.data(), .stride = 128 * sizeof(float), .type = RowType::kF32, .width = 128};
    std::vector<float> sum(count);
    kernels::window_scores(query, 1, keys, 1 / std::sqrt(128.0f), 1, sum);
    for (float mass : sum) EXPECT_FLOAT_EQ(mass, 1.0f / count);
  }
}

TEST(WindowAttention, MeanOfTheMassSmoothedOrNot) {
  TestHead head({.candidates = 30});
  PhiloxDraws draws({});
  PolicyScratch scratch;
  std::vector<float> score(30);
  WindowAttention(false, kernels::Divisor::kValid).score(head.view, draws, scratch, score);
  for (int j = 0; j < 30; ++j) EXPECT_FLOAT_EQ(score[j], head.attention[j] / 64);  // W = 32, G = 2
  WindowAttention(true, kernels::Divisor::kFixed).score(head.view, draws, scratch, score);
  EXPECT_FLOAT_EQ(score[0], (head.attention[0] + head.attention[1] + head.attention[2]) / 5 / 64);
}

TEST(LeverageScore, SumsToOneAndResamplesOnDemand) {
  const TestHead head({.candidates = 50});
  PolicyScratch scratch;
  scratch.reserve(50, 32);
  const auto score = [&](bool resample, uint32_t eviction) {
    PhiloxDraws draws({.eviction = eviction});
    std::vector<float> out(50);
    Leverage(20, resample).score(head.view, draws, scratch, out);
    return out;
  };
  double sum = 0;
  for (float s : score(true, 0)) sum += s;
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(score(false, 0), score(false, 5));
  EXPECT_NE(score(true, 0), score(true, 5));
}

TEST(LeverageScore, ZeroRowsGiveZeroNotNan) {
  const std::vector<float> zeros(10 * 32);
  const RowsView rows{.base = zeros.data(), .stride = 128, .type = RowType::kF32, .width = 32};
  TestHead head({.candidates = 10, .budget = 36});
  head.view.keys = head.view.values = rows;
  PolicyScratch scratch;
  scratch.reserve(10, 32);
  PhiloxDraws draws({});
  std::vector<float> out(10, 1.0f);
  Leverage(20, true).score(head.view, draws, scratch, out);
  EXPECT_EQ(out, std::vector<float>(10, 0.0f));
}

}  // namespace
}  // namespace vase
