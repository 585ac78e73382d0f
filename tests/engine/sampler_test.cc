#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "base/philox_draws.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr int kDraws = 20000;

// Probabilities .4 .3 .2 .1 for tokens 2 0 3 1, as logits.
const std::vector<float> kLogits = {std::log(0.3f), std::log(0.1f), std::log(0.4f), std::log(0.2f)};

SamplingOptions plain() { return {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 7}; }

std::vector<int> counts(const SamplingOptions& options, const std::vector<float>& logits) {
  Sampler sampler(options, static_cast<int>(logits.size()));
  std::vector<int> out(logits.size());
  for (int i = 0; i < kDraws; ++i) ++out[sampler.sample(logits, i)];
  return out;
}

// Chi-square of the counts against probabilities; tokens of probability 0 must never be drawn. The bound is the
// 1 - 1e-6 quantile for up to 3 degrees of freedom.
void expect_distribution(const std::vector<int>& seen, const std::vector<double>& p) {
  double chi = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) {
      EXPECT_EQ(seen[i], 0) << "token " << i;
    } else {
      chi += std::pow(seen[i] - kDraws * p[i], 2) / (kDraws * p[i]);
    }
  }
  EXPECT_LT(chi, 30.7);
}

// The whole chain by full sorting in double precision.
int32_t plain_sample(const SamplingOptions& o, const std::vector<float>& logits, uint64_t position) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weight(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) weight[i] = std::exp((double(logits[i]) - highest) / o.temperature);
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return weight[a] > weight[b] || (weight[a] == weight[b] && a < b);
  });
  if (o.top_k > 0 && o.top_k < int(order.size())) order.resize(o.top_k);
  const auto mass = [&] {
    double m = 0;
    for (int t : order) m += weight[t];
    return m;
  };
  const auto prefix = [&](double target) {
    double sum = 0;
    size_t n = 0;
    while (n < order.size() && (sum += weight[order[n++]]) < target) {
    }
    return n;
  };
  if (o.top_p < 1) order.resize(prefix(o.top_p * mass()));
  std::erase_if(order, [&](int t) { return weight[t] < o.min_p; });
  return order[prefix(philox_uniform(o.seed, position) * mass()) - 1];
}

TEST(Sampler, PlainDrawFollowsSoftmax) { expect_distribution(counts(plain(), kLogits), {0.3, 0.1, 0.4, 0.2}); }

TEST(Sampler, TemperatureSharpens) {
  SamplingOptions o = plain();
  o.temperature = 0.5f;  // p^2, renormalised: .09 .01 .16 .04 of .30
  expect_distribution(counts(o, kLogits), {0.3, 1.0 / 30, 16.0 / 30, 4.0 / 30});
}

TEST(Sampler, TopKKeepsTheKBest) {
  SamplingOptions o = plain();
  o.top_k = 2;
  expect_distribution(counts(o, kLogits), {3.0 / 7, 0, 4.0 / 7, 0});
  o.top_k = 100;  // more than there are
  expect_distribution(counts(o, kLogits), {0.3, 0.1, 0.4, 0.2});
}

TEST(Sampler, TopPKeepsTheSmallestSetThatReachesIt) {
  SamplingOptions o = plain();
  o.top_p = 0.75f;  // .4 + .3 < .75 <= .4 + .3 + .2
  expect_distribution(counts(o, kLogits), {3.0 / 9, 0, 4.0 / 9, 2.0 / 9});
  o.top_p = 1e-6f;  // always at least one
  expect_distribution(counts(o, kLogits), {0, 0, 1, 0});
}

TEST(Sampler, TopPCountsWhatTopKLeft) {
  SamplingOptions o = plain();
  o.top_k = 2;      // 4/7 and 3/7 remain
  o.top_p = 0.5f;   // 4/7 alone reaches it
  expect_distribution(counts(o, kLogits), {0, 0, 1, 0});
}

TEST(Sampler, MinPIsRelativeToTheBest) {
  SamplingOptions o = plain();
  o.min_p = 0.6f;  // at least .24
  expect_distribution(counts(o, kLogits), {3.0 / 7, 0, 4.0 / 7, 0});
}

TEST(Sampler, PenaltyAppliesOncePerTokenWithinTheWindow) {
  SamplingOptions o = plain();
  o.temperature = 0;
  o.repetition_penalty = 2;
  o.repetition_window = 2;
  Sampler sampler(o, 3);
  const std::vector<float> logits = {4, 3, -1};
  EXPECT_EQ(sampler.sample(logits, 0), 0);
  sampler.accept(0);
  sampler.accept(0);                        // twice, but divided once: 2 < 3
  EXPECT_EQ(sampler.sample(logits, 1), 1);
  sampler.accept(1);                        // 4/2 = 2 against 3/2
  EXPECT_EQ(sampler.sample(logits, 2), 0);
  sampler.accept(1);                        // 0 has left the window
  EXPECT_EQ(sampler.sample(logits, 3), 0);
  const std::vector<float> negative = {-10, -2.5f, -4};  // 1 is in the window: -5
  EXPECT_EQ(sampler.sample(negative, 4), 2);
}

TEST(Sampler, GreedyTakesTheLowestOfEqualIds) {
  SamplingOptions o = plain();
  o.temperature = 0;
  Sampler sampler(o, 4);
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 5, 5, 5}, 0), 1);
}

TEST(Sampler, TiesAtTheCutGoToTheLowerId) {
  SamplingOptions o = plain();
  o.top_k = 2;
  expect_distribution(counts(o, {1, 1, 1, 1}), {0.5, 0.5, 0, 0});
}

TEST(Sampler, DrawDependsOnSeedAndPositionAlone) {
  SamplingOptions o = plain();
  Sampler a(o, 4), b(o, 4);
  std::vector<int32_t> forward, backward(64);
  for (int i = 0; i < 64; ++i) forward.push_back(a.sample(kLogits, i));
  for (int i = 63; i >= 0; --i) backward[i] = b.sample(kLogits, i);
  EXPECT_EQ(forward, backward);
}

TEST(Sampler, EverySeedIsDistinct) {
  std::set<std::vector<int32_t>> texts;
  const std::vector<uint64_t> seeds = {0, 1, 7, (1ull << 32) - 1, 1ull << 32, 1ull << 63, ~0ull};
  for (const uint64_t seed : seeds) {
    SamplingOptions o = plain();
    o.seed = seed;
    Sampler sampler(o, 4);
    std::vector<int32_t> text;
    for (int i = 0; i < 64; ++i) text.push_back(sampler.sample(kLogits, i));
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), seeds.size());
}

// Against full sorting, over peaked, ordinary and flat logits and all combinations of filters. Weights in single
// precision may move a draw that falls on a boundary, so a handful of differences is allowed.
TEST(Sampler, EqualsFullSorting) {
  constexpr int kVocabulary = 1000, kTrials = 8;
  int different = 0, total = 0;
  for (const float spread : {0.0f, 0.01f, 1.0f, 6.0f}) {
    std::vector<float> logits(kVocabulary);
    for (int i = 0; i < kVocabulary; ++i) logits[i] = spread * float(10 * philox_uniform(3, i) - 5);
    for (const int top_k : {0, 1, 40, 999}) {
      for (const float top_p : {1.0f, 0.95f, 0.3f}) {
        for (const float min_p : {0.0f, 1e-7f, 0.05f}) {
          const SamplingOptions o{.temperature = 0.8f, .top_k = top_k, .top_p = top_p, .min_p = min_p, .seed = 11};
          Sampler sampler(o, kVocabulary);
          for (int i = 0; i < kTrials; ++i, ++total)
            different += sampler.sample(logits, i) != plain_sample(o, logits, i);
        }
      }
    }
  }
  EXPECT_LE(different, total / 200) << "of " << total;
}

TEST(Sampler, RefusesLogitsThatAreNoNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Sampler sampler(plain(), 3);
  for (const auto& logits :
       std::vector<std::vector<float>>{{0, std::nanf(""), 1}, {0, kInf, 1}, {-kInf, -kInf, -kInf}}) {
    try {
      sampler.sample(logits, 41);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kNonFinite);
      EXPECT_NE(std::string(e.what()).find("41"), std::string::npos) << e.what();
    }
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sampler.sample(std::vector<float>{-kInf, 0, -kInf}, i), 1);
}

// The ends of what is allowed, with logits as far apart as numbers get.
TEST(Sampler, ExtremeOptionsAndLogitsGiveTokens) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> cases = {
      {kMax, -kMax, 0}, {-kMax, -kMax, -kMax}, {kMax, kMax, kMax}, {1e-45f, -1e-45f, 0}, {-INFINITY, -kMax, -INFINITY}};
  for (const float temperature : {0.0f, 1e-3f, 100.0f}) {
    for (const float penalty : {0.01f, 1.0f, 100.0f}) {
      for (const auto& logits : cases) {
        Sampler sampler({.temperature = temperature, .top_p = 0.95f, .repetition_penalty = penalty}, 3);
        for (int32_t token = 0; token < 3; ++token) sampler.accept(token);
        for (int i = 0; i < 20; ++i) {
          const int32_t token = sampler.sample(logits, i);
          ASSERT_TRUE(token >= 0 && token < 3);
          ASSERT_NE(logits[token], -INFINITY);
        }
      }
    }
  }
  Sampler sharp({.temperature = 1e-3f, .top_p = 1}, 3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sharp.sample(std::vector<float>{0, 1, -1}, i), 1);
}

// Against looking the window up, token by token.
TEST(Sampler, PenaltyWindowOfAnyLength) {
  constexpr int kVocabulary = 16;
  std::vector<float> logits(kVocabulary);
  for (int i = 0; i < kVocabulary; ++i) logits[i] = 4 - float(i) / 2;
  for (const int window : {0, 1, 3, 7, 100}) {
    Sampler sampler({.temperature = 0, .repetition_penalty = 1.5f, .repetition_window = window}, kVocabulary);
    std::vector<int32_t> text;
    for (int step = 0; step < 60; ++step) {
      std::vector<float> want = logits;
      for (int32_t t = 0; t < kVocabulary; ++t) {
        const auto begin = text.end() - std::min<ptrdiff_t>(window, std::ssize(text));
        if (std::find(begin, text.end(), t) != text.end()) want[t] = want[t] > 0 ? want[t] / 1.5f : want[t] * 1.5f;
      }
      const int32_t token = sampler.sample(logits, step);
      ASSERT_EQ(token, std::max_element(want.begin(), want.end()) - want.begin()) << window << " " << step;
      text.push_back(step % 5 == 0 ? step % kVocabulary : token);
      sampler.accept(text.back());
    }
  }
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  const float nan = std::nanf("");
  const auto refused = [](auto change) {
    SamplingOptions o = plain();
    change(o);
    EXPECT_THROW(Sampler(o, 4), Error);
  };
  for (const float v : {-0.1f, 1e-40f, 0.9e-3f, 101.0f, nan, INFINITY}) {
    refused([&](SamplingOptions& o) { o.temperature = v; });
  }
  for (const float v : {0.0f, 1.01f, nan}) refused([&](SamplingOptions& o) { o.top_p = v; });
  for (const float v : {-0.1f, 1.01f, nan}) refused([&](SamplingOptions& o) { o.min_p = v; });
  for (const float v : {0.0f, -1.0f, 1e-38f, 0.009f, 101.0f, nan, INFINITY}) {
    refused([&](SamplingOptions& o) { o.repetition_penalty = v; });
  }
  refused([](SamplingOptions& o) { o.top_k = -1; });
  refused([](SamplingOptions& o) { o.repetition_window = -1; });
  Sampler sampler(plain(), 4);
  EXPECT_THROW(sampler.accept(4), Error);
  EXPECT_THROW(sampler.accept(-1), Error);
  EXPECT_THROW(sampler.sample(std::vector<float>(3), 0), Error);
}

}  // namespace
}  // namespace vase
