// Scores that look at keys, values and positions alone: hand-computed cases and quadratic definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "policies/test_head.h"

namespace vase {
namespace {

using Kept = std::vector<uint32_t>;

// `keep` of the candidates stay; rows have `width` channels, the last `buffer` of them are the buffer.
TestHead head_of(const std::vector<float>& keys, int width, int buffer, int keep) {
  const int rows = static_cast<int>(keys.size()) / width;
  TestHead head({.candidates = rows - buffer, .budget = keep + buffer, .buffer = buffer, .head_dim = width});
  head.set_keys(keys);
  return head;
}

std::vector<float> scores_of(const std::string& score, const HeadView& view, RandomDraws& draws) {
  PolicyScratch scratch;
  PlanTrace trace;
  std::vector<uint32_t> kept(view.keep());
  Policy::parse("score=" + score).plan(view, draws, scratch, kept, &trace);
  return trace.scores;
}

std::vector<float> scores_of(const std::string& score, const HeadView& view) {
  PhiloxDraws draws({});
  return scores_of(score, view, draws);
}

void expect_near(const std::vector<float>& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t j = 0; j < got.size(); ++j) EXPECT_NEAR(got[j], want[j], tolerance) << j;
}

// Directions a = (1, 0), b = (0.6, 0.8), c = (0, 1), and d = c in the buffer.
const std::vector<float> kFourKeys = {2, 0, 3, 4, 0, 5, 0, 1};

TEST(KeyDiff, KeepsWhatPointsAwayFromTheMean) {
  // a + b + c = (1.6, 1.8), of length 2.408: cosines 1.6, 2.4 and 1.8 over that.
  const TestHead head = head_of(kFourKeys, 2, 1, 2);
  const double length = std::hypot(1.6, 1.8);
  expect_near(scores_of("key-diff", head.view), {-1.6 / length, -2.4 / length, -1.8 / length}, 1e-6);
  EXPECT_EQ(plan_of("keydiff", head.view), (Kept{0, 2}));
}

TEST(Redundancy, PortByHand) {
  // r = (a . (1.6, 1.8) - 1) / 3 = 0.2, (b . - 1) / 3 = 1.4 / 3, (c . - 1) / 3 = 0.8 / 3.
  const TestHead head = head_of(kFourKeys, 2, 1, 2);
  const double sum = std::exp(0.6 / 3) + std::exp(1.4 / 3) + std::exp(0.8 / 3);
  expect_near(scores_of("redundancy", head.view),
              {std::exp(0.6 / 3) / sum, std::exp(1.4 / 3) / sum, std::exp(0.8 / 3) / sum}, 1e-6);
  EXPECT_EQ(plan_of("score=-1*redundancy", head.view), (Kept{0, 2}));
}

TEST(Redundancy, OriginalByHand) {
  // S: ab 0.6, ac 0, ad 0, bc 0.8, bd 0.8, cd 1. Newest above 0.5: a -> b, b -> d, c -> d, d -> c; those are dropped.
  // r_a = S_ba / 4 = 0.15; r_b = (S_cb + S_db) / 4 = 0.4; r_c = S_bc / 4 = 0.2; r_d = 0.
  const TestHead head = head_of(kFourKeys, 2, 1, 2);
  const double sum = std::exp(0.15) + std::exp(0.4) + std::exp(0.2) + 1;
  expect_near(scores_of("redundancy:form=original", head.view),
              {std::exp(0.15) / sum, std::exp(0.4) / sum, std::exp(0.2) / sum}, 1e-6);
  EXPECT_EQ(plan_of("score=-1*redundancy:form=original", head.view), (Kept{0, 2}));
  // Above 0.9 only c and d are alike: r_a = 0.6 / 4, r_b = (0.6 + 1.6) / 4, r_c = 0.8 / 4, r_d = 0.8 / 4.
  const double strict = std::exp(0.15) + std::exp(0.55) + 2 * std::exp(0.2);
  expect_near(scores_of("redundancy:form=original,threshold=0.9", head.view),
              {std::exp(0.15) / strict, std::exp(0.55) / strict, std::exp(0.2) / strict}, 1e-6);
}

// Directions of the stored rows, in double.
std::vector<std::vector<double>> directions(const HeadView& view, int rows) {
  std::vector<std::vector<double>> all;
  std::vector<float> row(view.keys.width);
  for (int j = 0; j < rows; ++j) {
    read_row(view.keys, j, row.data());
    double squares = 0;
    for (float x : row) squares += double(x) * x;
    all.emplace_back(row.begin(), row.end());
    for (double& x : all.back()) x /= std::sqrt(squares) + 1e-8;
  }
  return all;
}

// The quadratic definition; threshold above 1 spares nothing. Rows are in the order of their positions.
std::vector<double> quadratic_rho(const HeadView& view, int rows, double threshold) {
  const auto k = directions(view, rows);
  std::vector<double> r(rows), similarity(rows);
  for (int i = 0; i < rows; ++i) {
    int last = -1;
    for (int j = 0; j < rows; ++j) {
      similarity[j] = 0;
      for (size_t c = 0; i != j && c < k[i].size(); ++c) similarity[j] += k[i][c] * k[j][c];
      if (similarity[j] > threshold) last = j;
    }
    for (int j = 0; j < rows; ++j) r[j] += j == last ? 0 : similarity[j] / rows;
  }
  double sum = 0;
  for (double& x : r) sum += x = std::exp(x);
  for (double& x : r) x /= sum;
  r.resize(view.candidates());
  return r;
}

TEST(Redundancy, LinearFormsEqualTheQuadraticOnes) {
  for (int width : {1, 20, 64, 128}) {
    for (RowType type : kRowTypes) {
      const TestHead head({.candidates = 150, .head_dim = width, .type = type});
      const double threshold = width == 20 ? 0.3 : 0.5;  // some rows have no key above it
      const std::string text = "redundancy:form=original,threshold=" + std::string(width == 20 ? "0.3" : "0.5");
      expect_near(scores_of("redundancy", head.view), quadratic_rho(head.view, 150, 2), 1e-6);
      expect_near(scores_of(text, head.view), quadratic_rho(head.view, 182, threshold), 1e-6);
    }
  }
}

TEST(Redundancy, SparesTheNewestCopy) {
  TestHead head({.candidates = 256, .budget = 160, .head_dim = 64});
  std::vector<float> keys(288 * 64);
  PhiloxDraws({.seed = 11}).gaussian(false, keys);
  for (int copy : {100, 200}) std::copy_n(keys.begin() + 10 * 64, 64, keys.begin() + copy * 64);
  head.set_keys(keys);
  const auto rho = scores_of("redundancy:form=original", head.view);
  EXPECT_LT(rho[200], rho[10]);
  EXPECT_LT(rho[200], rho[100]);
  // "Newest" goes by position, whatever the order of the candidates.
  std::vector<uint32_t> reversed = indices(256);
  std::reverse(reversed.begin(), reversed.end());
  const TestHead other = head.reordered(reversed);
  const auto again = scores_of("redundancy:form=original", other.view);
  for (int j = 0; j < 256; ++j) EXPECT_FLOAT_EQ(again[255 - j], rho[j]);
}

TEST(KeyDiff, IsTheReverseOfTheRedundancy) {
  const TestHead head({.candidates = 200, .budget = 120, .head_dim = 64});
  const Kept diff = plan_of("score=key-diff order=score", head.view);
  const Kept redundancy = plan_of("score=-1*redundancy order=score", head.view);
  // Softmax scores of near neighbours may round to equal, so ranks are compared by the finer of the two.
  const auto score = scores_of("key-diff", head.view);
  for (size_t i = 0; i < diff.size(); ++i) EXPECT_NEAR(score[diff[i]], score[redundancy[i]], 1e-4) << i;
  EXPECT_EQ(std::set<uint32_t>(diff.begin(), diff.end()), std::set<uint32_t>(redundancy.begin(), redundancy.end()));
}

TEST(KeyNorm, KeepsEitherEnd) {
  const TestHead head = head_of({3, 4, 1, 0, 0, 2, 6, 8, 9, 9}, 2, 1, 2);  // norms 5, 1, 2, 10
  expect_near(scores_of("key-norm", head.view), {-5, -1, -2, -10}, 1e-6);
  EXPECT_EQ(plan_of("knorm", head.view), (Kept{1, 2}));
  EXPECT_EQ(plan_of("score=key-norm:keep=large", head.view), (Kept{0, 3}));
}

TEST(Position, KeepsSinksAndTheNewest) {
  const TestHead head({.candidates = 10, .budget = 8, .buffer = 2});  // K = 6
  EXPECT_EQ(plan_of("streaming", head.view), (Kept{0, 1, 2, 3, 8, 9}));
  EXPECT_EQ(plan_of("recency", head.view), (Kept{4, 5, 6, 7, 8, 9}));
  const TestHead reversed = head.reordered({9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  EXPECT_EQ(plan_of("streaming", reversed.view), (Kept{0, 1, 6, 7, 8, 9}));  // by position, not by slot
  EXPECT_EQ(scores_of("position", head.view).back(), static_cast<float>(head.positions[9] + 1 - head.view.seen));
}

TEST(Uniform, BlocksShareANumber) {
  TestHead head({.candidates = 5, .budget = 3, .buffer = 1});
  GivenDraws draws({0.1f, 0.9f, 0.5f, 0.2f, 0.7f});
  EXPECT_EQ(scores_of("uniform:block=2", head.view, draws), (std::vector<float>{0.1f, 0.1f, 0.5f, 0.5f, 0.7f}));
  PolicyScratch scratch;
  Kept kept(2);
  Policy::parse("score=uniform:block=2").plan(head.view, draws, scratch, kept);
  EXPECT_EQ(kept, (Kept{2, 4}));
}

TEST(Lag, ByHand) {
  // Sink 0; blocks {1, 2}, {3, 4}, {5, 6}; tail {7}. Values are constant, so both of a block have softmax 1/2.
  // Block {1, 2}: minimum (0, 0) and maximum (1, 2) of {3, 4}. Key 1 = (1, 0) becomes (1, 0), deviation 0.71; key 2 =
  //   (1, 2) becomes (1, 1), deviation 0. Ranks 1 and 0 of 2.
  // Block {3, 4}: (0, 0) and (2, 2) of {5, 6}. Key 3 becomes (0, 0), deviation 0; key 4 = (1, 2) becomes (0.5, 1),
  //   deviation 0.35. Ranks 0 and 1 of 2.
  TestHead head = head_of({9, 9, 1, 0, 1, 2, 0, 0, 1, 2, 0, 0, 2, 2, 7, 7, 5, 5}, 2, 1, 5);
  head.set_values(std::vector<float>(18, 1));
  expect_near(scores_of("lag:sinks=1,block=2", head.view), {3, 0.5, 0, 0, 0.5, 1 + 1 / 3., 1 + 2 / 3., 2}, 1e-6);
  EXPECT_EQ(plan_of("score=lag:sinks=1,block=2", head.view), (Kept{0, 1, 5, 6, 7}));  // 1 and 4 tie: the older one
  // The deviation of value 4 alone turns block {3, 4} no further, that of value 3 turns it.
  head.set_values({1, 1, 1, 1, 1, 1, 0, 9, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1});
  const auto scores = scores_of("lag:sinks=1,block=2", head.view);
  EXPECT_EQ(scores[3], 0.5f);
  EXPECT_EQ(scores[4], 0.0f);
  // Less than two blocks: sinks, then the newest.
  EXPECT_EQ(plan_of("score=lag:sinks=2,block=4", head.view), (Kept{0, 1, 5, 6, 7}));
}

TEST(LeverageScore, WindowsAndCombinations) {
  // Energies of keys 100, 900 | 1, 1 and of values 1, 1 | 1, 1. In windows of 2: 0.1, 0.9 | 0.5, 0.5 and 0.5
  // throughout.
  TestHead head = head_of({10, 30, 1, 1, 5}, 1, 1, 2);
  head.set_values(std::vector<float>(5, 1));
  EXPECT_EQ(plan_of("score=leverage:sketch=off", head.view), (Kept{0, 1}));
  EXPECT_EQ(plan_of("score=leverage:sketch=off,window=2", head.view), (Kept{1, 2}));
  // Products 0.05, 0.45, 0.25, 0.25 add up to 1; means 0.3, 0.7, 0.5, 0.5 to 2; keys to 2.
  expect_near(scores_of("leverage:sketch=off,window=2", head.view), {0.05, 0.45, 0.25, 0.25}, 1e-6);
  expect_near(scores_of("leverage:sketch=off,window=2,combine=mean", head.view), {0.15, 0.35, 0.25, 0.25}, 1e-6);
  expect_near(scores_of("leverage:sketch=off,window=2,combine=key", head.view), {0.05, 0.45, 0.25, 0.25}, 1e-6);
  expect_near(scores_of("leverage:sketch=off,combine=value", head.view), {0.25, 0.25, 0.25, 0.25}, 1e-6);
  // The last window is shorter: 100 + 900 + 1 and 1.
  expect_near(scores_of("leverage:sketch=off,window=3,combine=key", head.view),
              {100 / 1001. / 2, 900 / 1001. / 2, 1 / 1001. / 2, 0.5}, 1e-6);
}

TEST(ValueScore, TopIsAnIndicator) {
  TestHead head({.candidates = 5, .budget = 4, .buffer = 1});  // K = 3
  std::copy_n((const float[]){4, 1, 3, 5, 2}, 5, head.value_range.begin());
  EXPECT_EQ(scores_of("value:top=2", head.view), (std::vector<float>{1, 0, 0, 1, 0}));
  EXPECT_EQ(scores_of("value:keep=small,top=25%", head.view), (std::vector<float>{0, 1, 0, 0, 0}));
  // The two largest go, the others stay at random: all three of them.
  EXPECT_EQ(plan_of("score=uniform-2*value:top=2", head.view), (Kept{1, 2, 4}));
}

TEST(Mixtures, AttentionTimesValueByHand) {
  TestHead head({.candidates = 4, .budget = 3, .buffer = 1, .group = 1});
  std::copy_n((const float[]){0.4f, 0.3f, 0.2f, 0.1f}, 4, head.attention.begin());
  std::copy_n((const float[]){1, 2, 4, 5}, 4, head.value_range.begin());  // products 0.4, 0.6, 0.8, 0.5
  EXPECT_EQ(plan_of("score=attention:smooth=off*value", head.view), (Kept{1, 2}));
}

TEST(Mixtures, RkvByHand) {
  // Attention 0.5, 0.3, 0.2; redundancy of a, b, c 0.302, 0.381, 0.317 (RedundancyPort): halves of the differences are
  // 0.099, -0.041, -0.058.
  TestHead head = head_of(kFourKeys, 2, 1, 2);
  head.view.attention_rows = 1;
  std::copy_n((const float[]){0.5f, 0.3f, 0.2f}, 3, head.attention.begin());
  EXPECT_EQ(plan_of("score=0.5*attention:smooth=off-0.5*redundancy", head.view), (Kept{0, 1}));
  // With 0.1 instead, 0.1 A - 0.9 rho: -0.222, -0.313, -0.266.
  EXPECT_EQ(plan_of("score=0.1*attention:smooth=off-0.9*redundancy", head.view), (Kept{0, 2}));
}

TEST(Strata, BestOfEachChunk) {
  TestHead head({.candidates = 7, .budget = 4, .buffer = 1});  // chunks of 7 for 3: {0, 1}, {2, 3}, {4, 5, 6}
  GivenDraws draws({0.9f, 0.8f, 0.1f, 0.2f, 0.3f, 0.7f, 0.4f});
  PolicyScratch scratch;
  Kept kept(3);
  Policy::parse("random-strata").plan(head.view, draws, scratch, kept);
  EXPECT_EQ(kept, (Kept{0, 3, 5}));
  Policy::parse("random-strata protect=sinks:1").plan(head.view, draws, scratch, kept);  // {1, 2, 3}, {4, 5, 6}
  EXPECT_EQ(kept, (Kept{0, 1, 5}));
}

TEST(Strata, PicksUniformlyInsideAChunk) {
  const TestHead head({.candidates = 20, .budget = 6, .buffer = 2});  // 4 chunks of 5
  std::vector<int> kept_times(20);
  const int trials = 20000;
  for (int seed = 0; seed < trials; ++seed) {
    for (uint32_t c : plan_of("random-strata", head.view, {.seed = static_cast<uint64_t>(seed)})) ++kept_times[c];
  }
  for (int count : kept_times) EXPECT_NEAR(count, trials / 5, 4.5 * std::sqrt(trials * 0.2 * 0.8));
}

TEST(Cluster, WindowAroundTheBest) {
  TestHead head({.candidates = 7, .budget = 4, .buffer = 1});  // windows of 3
  PolicyScratch scratch;
  Kept kept(3);
  const auto keep = [&](std::vector<float> scores, const std::string& rules = "none") {
    GivenDraws draws(std::move(scores));
    Policy::parse("random-cluster protect=" + rules).plan(head.view, draws, scratch, kept);
    return kept;
  };
  EXPECT_EQ(keep({0, 0, 0, 9, 0, 0, 0}), (Kept{2, 3, 4}));
  EXPECT_EQ(keep({9, 0, 0, 0, 0, 0, 0}), (Kept{0, 1, 2}));
  EXPECT_EQ(keep({0, 0, 0, 0, 0, 0, 9}), (Kept{4, 5, 6}));
  EXPECT_EQ(keep({0, 0, 0, 9, 0, 0, 0}, "sinks:1"), (Kept{0, 2, 3}));
}

}  // namespace
}  // namespace vase
