// How long tokens survive over many evictions.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "policies/test_head.h"

namespace vase {
namespace {

// Inclusion of token j in a draw of S of N is close to 1 - exp(-w_j t) with t such that these add up to S.
std::vector<double> predicted_inclusion(const std::vector<float>& weights, int count) {
  const auto inclusion = [&](double t) {
    std::vector<double> p;
    for (float w : weights) p.push_back(-std::expm1(-w * t));
    return p;
  };
  double low = 0, high = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double t = (low + high) / 2;
    const auto p = inclusion(t);
    (std::accumulate(p.begin(), p.end(), 0.0) < count ? low : high) = t;
  }
  return inclusion(low);
}

TEST(Survival, SteadyStateOfTheWeightedDraw) {
  TestHead head({.candidates = 400, .budget = 364, .buffer = 64});
  for (int c = 0; c < 400; ++c) head.attention[c] = 0.05f + 0.01f * static_cast<float>(c % 100);
  const auto want = predicted_inclusion(head.attention, 300);
  const Policy policy = Policy::parse("score=attention:smooth=off select=sample");
  std::vector<int> kept_times(400);
  const int trials = 4000;
  for (int seed = 0; seed < trials; ++seed) {
    for (uint32_t c : plan_of(policy, head.view, {.seed = static_cast<uint64_t>(seed)})) ++kept_times[c];
  }
  for (int c = 0; c < 400; ++c) {
    const double sigma = std::sqrt(want[c] * (1 - want[c]) / trials);
    EXPECT_NEAR(static_cast<double>(kept_times[c]) / trials, want[c], 4.5 * sigma + 0.005) << c;  // + O(1/N)
  }
}

// Runs a head of `policy` from an empty cache for a number of evictions; calls back with the positions kept by each.
template <typename OnEviction>
void run_head(const Policy& policy, int budget, int buffer, int prompt, int evictions, uint64_t seed, OnEviction seen) {
  std::vector<int32_t> slots;
  PolicyScratch scratch;
  std::vector<uint32_t> kept(budget - buffer);
  for (int e = 0, next = 0; e < evictions; ++e) {
    while (static_cast<int>(slots.size()) < budget + buffer) slots.push_back(next++);
    HeadView view{.budget = budget, .buffer = buffer, .prompt_tokens = prompt};
    view.positions = std::span(slots).first(budget);
    PhiloxDraws draws({.seed = seed, .eviction = static_cast<uint32_t>(e)});
    policy.plan(view, draws, scratch, kept);
    std::vector<int32_t> after;
    for (uint32_t c : kept) after.push_back(slots[c]);
    after.insert(after.end(), slots.begin() + budget, slots.end());
    slots = std::move(after);
    seen(e, slots);
  }
}

// A token that does not belong to the prompt survives e evictions with probability q^e, q = (K - P') / (M - P').
TEST(Survival, RandomPromptIsGeometricInAge) {
  const int budget = 64, buffer = 16, prompt = 20, evictions = 6, trials = 3000;
  const double q = static_cast<double>(budget - buffer - prompt) / (budget - prompt);
  std::vector<double> alive(evictions);
  run_head(Policy::parse("random-prompt"), budget, buffer, prompt, 1, 0, [&](int, const auto& slots) {
    EXPECT_EQ(std::vector<int32_t>(slots.begin(), slots.begin() + prompt), indices<int32_t>(prompt));
  });
  for (int seed = 0; seed < trials; ++seed) {
    run_head(Policy::parse("random-prompt"), budget, buffer, prompt, evictions, seed, [&](int e, const auto& slots) {
      EXPECT_EQ(static_cast<int>(slots.size()), budget);
      for (int32_t p : slots) alive[e] += p >= prompt && p < budget;  // candidates of the first eviction
    });
  }
  for (int e = 0; e < evictions; ++e) {
    const double want = std::pow(q, e + 1);
    EXPECT_NEAR(alive[e] / trials / (budget - prompt), want, 0.01) << e;
  }
}

// 1000 prompt tokens through a budget of 64: sinks are the first four of the text, not of a chunk, and stay.
TEST(Survival, SinksOfALongPromptStay) {
  run_head(Policy::parse("random protect+=sinks:4"), 64, 32, 1000, 29, 5, [](int e, const auto& slots) {
    EXPECT_EQ(std::vector<int32_t>(slots.begin(), slots.begin() + 4), (std::vector<int32_t>{0, 1, 2, 3})) << e;
    EXPECT_TRUE(std::is_sorted(slots.begin(), slots.end()));
    EXPECT_EQ(slots.size(), 64u);
  });
}

// One slot is always left to choose, so what is no longer prompt can live on too.
TEST(Survival, APromptBeyondTheBudgetLeavesOneSlotFree) {
  run_head(Policy::parse("random-prompt"), 64, 32, 1000, 20, 5, [](int, const auto& slots) {
    EXPECT_EQ(std::vector<int32_t>(slots.begin(), slots.begin() + 31), indices<int32_t>(31));
  });
}

}  // namespace
}  // namespace vase
