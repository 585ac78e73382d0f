// Sums over a vocabulary against the same in double, number by number.
#include "eval/logits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace vase::eval {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> made_up(size_t count, uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(3, spread);
  std::vector<float> out(count);
  for (float& x : out) x = normal(random);
  return out;
}

double plain_log_sum_exp(const std::vector<float>& x) {
  double sum = 0;
  for (const float one : x) sum += std::exp(static_cast<double>(one) - x[0]);
  return x[0] + std::log(sum);
}

std::vector<float> log_probabilities(const std::vector<float>& logits) {
  std::vector<float> out = logits;
  const auto normaliser = static_cast<float>(plain_log_sum_exp(logits));
  for (float& x : out) x -= normaliser;
  return out;
}

TEST(Logits, EqualTheSumsInDouble) {
  for (const size_t count : {1, 7, 16, 17, 1000, 2049, 151936}) {
    const std::vector<float> full = made_up(count, 1, 4), other = made_up(count, 2, 5);
    const double normaliser = plain_log_sum_exp(other);
    EXPECT_NEAR(log_sum_exp(other), normaliser, 1e-6 * std::abs(normaliser)) << count;
    const std::vector<float> log_p = log_probabilities(full);
    double kl = 0;
    for (size_t i = 0; i < count; ++i) kl += std::exp(double(log_p[i])) * (log_p[i] - (other[i] - normaliser));
    EXPECT_NEAR(kl_divergence(log_p, other, normaliser), std::max(kl, 0.0), 2e-6 * (1 + kl)) << count;
  }
}

TEST(Logits, ADistributionDoesNotDivergeFromItself) {
  const std::vector<float> logits = made_up(5000, 3, 6);
  EXPECT_LE(kl_divergence(log_probabilities(logits), logits, log_sum_exp(logits)), 2e-6);
}

TEST(Logits, ImpossibleTokensAddNothing) {
  std::vector<float> logits = made_up(100, 4, 2);
  logits[5] = logits[99] = -kInfinity;
  EXPECT_NEAR(kl_divergence(log_probabilities(logits), logits, log_sum_exp(logits)), 0, 2e-6);
}

TEST(Logits, WhatTheOtherSideForbidsIsInfinitelyFar) {
  const std::vector<float> full = made_up(100, 5, 2);
  std::vector<float> other = full;
  other[7] = -kInfinity;
  EXPECT_EQ(kl_divergence(log_probabilities(full), other, log_sum_exp(other)), kInfinity);
}

TEST(Logits, NaNStaysVisible) {
  std::vector<float> logits = made_up(100, 6, 2);
  logits[50] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(log_sum_exp(logits)));
}

}  // namespace
}  // namespace vase::eval
