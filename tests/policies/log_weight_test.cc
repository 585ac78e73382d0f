// The weighted draw whose survivors carry log-weights (docs/policies.md 4.17).
#include <gtest/gtest.h>

#include <cmath>

#include "policies/select/sample.h"
#include "policies/test_head.h"

namespace vase {
namespace {

struct Result {
  std::vector<uint32_t> kept;
  std::vector<float> carried;  // by candidate
};

// Draws `keep` of the candidates by these scores; b: log-weights before.
Result draw(const std::vector<float>& scores, int keep, const Sample& select, std::vector<float> b, uint64_t seed = 0) {
  const int count = static_cast<int>(scores.size());
  TestHead head({.candidates = count, .budget = keep + 2, .buffer = 2, .head_dim = 16});
  std::copy(b.begin(), b.end(), head.log_weight.begin());
  PolicyScratch scratch;
  PhiloxDraws draws({.seed = seed});
  Result result{std::vector<uint32_t>(keep), {}};
  const Policy policy({}, std::make_shared<FixedScores>(scores), std::make_shared<Sample>(select));
  policy.plan(head.view_for(policy.needs()), draws, scratch, result.kept);
  result.carried.assign(scratch.log_weight.begin(), scratch.log_weight.begin() + count);
  return result;
}

TEST(LogWeight, NothingChangesWhenAllStay) {
  const std::vector<float> b = {0, 0.5f, 2.9f, 0, 1};
  for (const std::vector<float>& scores : {std::vector<float>{1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}, {1, 0, -1, 2, 0}}) {
    EXPECT_EQ(draw(scores, 5, Sample(0.1, true), b).carried, b);
  }
}

TEST(LogWeight, EqualWeightsGrowByTheLogOfTheShare) {
  for (double floor : {0.0, 0.1}) {
    const Result result = draw(std::vector<float>(40, 0.3f), 10, Sample(floor, true), std::vector<float>(40, 0.25f));
    for (uint32_t c : result.kept) EXPECT_NEAR(result.carried[c], 0.25 + std::log(40 / 10.), 1e-5);
  }
}

TEST(LogWeight, TwoWeightsByHand) {
  // 3 of {1, 1, 1, 1, 2, 2}: with y = exp(-t), 4 (1 - y) + 2 (1 - y^2) = 3 gives 2 y^2 + 4 y - 3 = 0, y = 0.5811.
  const double y = -1 + std::sqrt(2.5);
  const Result result = draw({1, 1, 1, 1, 2, 2}, 3, Sample(0, true), std::vector<float>(6, 0));
  for (uint32_t c : result.kept) {
    EXPECT_NEAR(result.carried[c], c < 4 ? -std::log(1 - y) : -std::log(1 - y * y), 1e-5) << c;
  }
}

TEST(LogWeight, FloorLiftsTheWeights) {
  // Mean 1, so floor 1 turns {2, 2, 0, 0} into {3, 3, 1, 1}: 2 (1 - y^3) + 2 (1 - y) = 2 for y^3 + y = 1, y = 0.6823.
  const double y = 0.6823278038280193;
  std::vector<int> kept(4);
  for (int seed = 0; seed < 200; ++seed) {
    const Result result = draw({2, 2, 0, 0}, 2, Sample(1, true), std::vector<float>(4, 0), seed);
    for (uint32_t c : result.kept) {
      ++kept[c];
      EXPECT_NEAR(result.carried[c], -std::log(c < 2 ? 1 - y * y * y : 1 - y), 1e-5) << c;
    }
  }
  EXPECT_GT(kept[2], 0);  // nothing is hopeless
  EXPECT_GT(kept[0], kept[2]);
}

TEST(LogWeight, CapHolds) {
  const std::vector<float> b(1000, 0.5f);
  for (double cap : {0.6, 3.0}) {
    const Result result = draw(std::vector<float>(1000, 1), 1, Sample(0, true, cap), b);  // ln 1000 = 6.9
    EXPECT_FLOAT_EQ(result.carried[result.kept[0]], static_cast<float>(cap));
  }
}

// Fewer positive weights than places: those stay as they are, and the fillers stand for the rest of their kind.
TEST(LogWeight, FillersShareWhatIsLeft) {
  const Result result = draw({1, 0, 2, 0, 0, 0}, 4, Sample(0, true), std::vector<float>(6, 0));
  for (uint32_t c : result.kept) {
    EXPECT_NEAR(result.carried[c], c == 0 || c == 2 ? 0 : std::log(4 / 2.), 1e-6) << c;
  }
}

TEST(LogWeight, ProtectedSlotsKeepTheirs) {
  TestHead head({.candidates = 96});
  const Policy policy = Policy::parse("protect=sinks:4,value:20 score=attention select=sample:weights=on");
  PolicyScratch scratch;
  PhiloxDraws draws({});
  std::vector<uint32_t> kept(64);
  PlanTrace trace;
  policy.plan(head.view_for(policy.needs()), draws, scratch, kept, &trace);
  ASSERT_EQ(trace.protected_.size(), 20u);
  const std::set<uint32_t> is_protected(trace.protected_.begin(), trace.protected_.end());
  for (uint32_t c : kept) {
    if (is_protected.contains(c)) {
      EXPECT_EQ(scratch.log_weight[c], head.log_weight[c]);
    } else {
      EXPECT_GT(scratch.log_weight[c], head.log_weight[c]);
    }
  }
}

TEST(LogWeight, WithoutWeightsNothingIsAskedForNorTouched) {
  EXPECT_FALSE(Policy::parse("vase-attnv").needs().log_weight);
  EXPECT_TRUE(Policy::parse("vase-attnv select=sample:weights=on").needs().log_weight);
  const Result result = draw({3, 1, 2, 1}, 2, Sample(0.5), {});
  EXPECT_EQ(result.carried, std::vector<float>(4, 0));
}

// E[sum over survivors of exp(b) x] = sum of x: Horvitz-Thompson, up to the approximation of pi, O(1 / N).
TEST(LogWeight, SumsStayUnbiased) {
  const int count = 200, keep = 120, trials = 20000;
  std::vector<float> scores(count), b(count), x(count);
  double want = 0;
  for (int c = 0; c < count; ++c) {
    scores[c] = 0.02f + 0.01f * static_cast<float>(c * 37 % 100);
    b[c] = 0.1f * static_cast<float>(c % 4);
    x[c] = static_cast<float>(1 + c % 7);
    want += std::exp(b[c]) * x[c];
  }
  TestHead head({.candidates = count, .budget = keep + 2, .buffer = 2, .head_dim = 16});
  head.log_weight = b;
  const Policy policy({}, std::make_shared<FixedScores>(scores), std::make_shared<Sample>(0.1, true, 30));
  head.view.log_weight = head.log_weight;
  PolicyScratch scratch;
  std::vector<uint32_t> kept(keep);
  double sum = 0, squares = 0;
  for (int seed = 0; seed < trials; ++seed) {
    PhiloxDraws draws({.seed = static_cast<uint64_t>(seed)});
    policy.plan(head.view, draws, scratch, kept);
    double total = 0;
    for (uint32_t c : kept) total += std::exp(scratch.log_weight[c]) * x[c];
    sum += total;
    squares += total * total;
  }
  const double mean = sum / trials, sigma = std::sqrt((squares / trials - mean * mean) / trials);
  EXPECT_NEAR(mean, want, 4.5 * sigma + 0.002 * want);
}

TEST(SampleText, NamesWhatIsNotTheDefault) {
  for (const char* text : {"sample", "sample:floor=0.1", "sample:weights=on", "sample:floor=0.25,weights=on,cap=2"}) {
    EXPECT_EQ(Policy::parse("score=uniform select=" + std::string(text)).text(),
              "score=uniform select=" + std::string(text));
  }
  EXPECT_ANY_THROW(Policy::parse("score=uniform select=sample:cap=2"));  // without weights there is nothing to cap
}

}  // namespace
}  // namespace vase
