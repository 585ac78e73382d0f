// Weighted sampling without replacement: exact distribution, edge counts, no repeats, frozen result.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kernels/weighted_draw/weighted_draw.h"
#include "policies/test_head.h"

namespace vase {
namespace {

struct Drawn {
  std::vector<uint32_t> order;
  int weightless = 0;
};

class Draws {
 public:
  explicit Draws(std::vector<float> weights)
      : weights_(std::move(weights)), exponentials_(weights_.size()), ties_(indices<int32_t>(weights_.size())),
        keys_(weights_.size()) {}

  // Draw number `seed`.
  Drawn draw(int count, uint64_t seed) {
    PhiloxDraws({.seed = seed}).exponential(ties_, exponentials_);
    std::vector<uint32_t> pool = indices(weights_.size());
    const int weightless = kernels::weighted_draw(weights_, exponentials_, ties_, pool, count, true, keys_);
    pool.resize(std::min<size_t>(std::max(count, 0), pool.size()));
    return {pool, weightless};
  }
  const std::vector<float>& exponentials() const { return exponentials_; }

 private:
  std::vector<float> weights_, exponentials_;
  std::vector<int32_t> ties_;
  std::vector<double> keys_;
};

std::set<uint32_t> as_set(const std::vector<uint32_t>& order) { return {order.begin(), order.end()}; }

TEST(Draw, PairsFollowSuccessiveSampling) {
  const std::vector<float> weights = {1, 2, 3, 4, 0, 0};
  Draws draws(weights);
  std::map<std::pair<uint32_t, uint32_t>, int> seen;
  const int trials = 1000000;
  for (int i = 0; i < trials; ++i) {
    const auto drawn = draws.draw(2, i).order;
    ASSERT_LT(std::max(drawn[0], drawn[1]), 4u);
    ++seen[{drawn[0], drawn[1]}];
  }
  double chi2 = 0;
  for (uint32_t a = 0; a < 4; ++a) {
    for (uint32_t b = 0; b < 4; ++b) {
      if (a == b) continue;
      const double expected = trials * weights[a] / 10 * weights[b] / (10 - weights[a]);
      chi2 += std::pow(seen[{a, b}] - expected, 2) / expected;
    }
  }
  EXPECT_LT(chi2, 31.3);  // 11 degrees of freedom, p = 0.001
}

TEST(Draw, RaceAndGumbelFormsAgreeDrawByDraw) {
  const std::vector<float> weights = {0.3f, 2, 1e-6f, 40, 7, 0.01f, 3, 1e-30f};
  Draws draws(weights);
  for (int i = 0; i < 20000; ++i) {
    const auto drawn = draws.draw(5, i).order;
    std::vector<uint32_t> gumbel = indices(weights.size());
    const auto key = [&](uint32_t c) {  // ln w - ln(-ln u), E = -ln u
      return std::log(static_cast<double>(weights[c])) - std::log(static_cast<double>(draws.exponentials()[c]));
    };
    std::sort(gumbel.begin(), gumbel.end(), [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
    gumbel.resize(5);
    ASSERT_EQ(drawn, gumbel);
  }
}

// When positive weights run out, the others fill up uniformly, by their own exponentials.
TEST(Draw, WeightlessFillUpUniformly) {
  struct {
    std::vector<float> weights;
    int count;
    std::set<uint32_t> always;
    int fillers, others;
  } cases[] = {{{1, 2, 3, 4, 0, 0}, 5, {0, 1, 2, 3}, 1, 2}, {{0.1f, 0, 0.3f, 0.6f, 0}, 3, {0, 2, 3}, 0, 2},
               {{0.1f, 0, 0.3f, 0.6f, 0}, 4, {0, 2, 3}, 1, 2}, {{0, 1, 0, 0}, 3, {1}, 2, 3},
               {{0, 0, 0, 0}, 2, {}, 2, 4},                    {{-1, NAN, 5, -INFINITY}, 2, {2}, 1, 3}};
  for (const auto& c : cases) {
    Draws draws(c.weights);
    std::vector<int> kept(c.weights.size());
    const int trials = 100000;
    for (int i = 0; i < trials; ++i) {
      const Drawn drawn = draws.draw(c.count, i);
      ASSERT_EQ(as_set(drawn.order).size(), static_cast<size_t>(c.count));
      ASSERT_EQ(drawn.weightless, c.fillers);
      for (uint32_t j : drawn.order) ++kept[j];
    }
    const double p = static_cast<double>(c.fillers) / c.others, sigma = std::sqrt(trials * p * (1 - p));
    for (uint32_t j = 0; j < kept.size(); ++j) {
      if (c.always.contains(j)) {
        EXPECT_EQ(kept[j], trials);
      } else {
        EXPECT_NEAR(kept[j], trials * p, 4 * sigma);
      }
    }
  }
}

TEST(Draw, EqualWeightsAreKeptEquallyOften) {
  Draws draws(std::vector<float>(100, 0.37f));
  std::vector<int> kept(100);
  for (int seed = 0; seed < 20000; ++seed) {
    for (uint32_t c : draws.draw(50, seed).order) ++kept[c];
  }
  for (int count : kept) EXPECT_NEAR(count / 20000.0, 0.5, 0.0142);  // 4 sigma
}

TEST(Draw, NeverRepeats) {
  Draws draws(std::vector<float>(30000, 1));
  for (int seed = 0; seed < 500; ++seed) ASSERT_EQ(as_set(draws.draw(1000, seed).order).size(), 1000u);
}

TEST(Draw, EdgeCounts) {
  Draws draws({3, 1, 2});
  EXPECT_EQ(as_set(draws.draw(3, 1).order), (std::set<uint32_t>{0, 1, 2}));
  EXPECT_EQ(as_set(draws.draw(8, 1).order), (std::set<uint32_t>{0, 1, 2}));
  EXPECT_TRUE(draws.draw(0, 1).order.empty());
  EXPECT_TRUE(draws.draw(-1, 1).order.empty());
  EXPECT_EQ(Draws({5}).draw(1, 1).order, (std::vector<uint32_t>{0}));
  EXPECT_TRUE(Draws({}).draw(0, 1).order.empty());
}

TEST(Draw, ExtremeWeights) {
  constexpr float kMax = std::numeric_limits<float>::max(), kTiny = std::numeric_limits<float>::denorm_min();
  Draws draws({kTiny, 0, kMax, INFINITY});
  for (int seed = 0; seed < 1000; ++seed) {
    EXPECT_EQ(draws.draw(4, seed).order, (std::vector<uint32_t>{3, 2, 0, 1}));
    EXPECT_EQ(draws.draw(3, seed).weightless, 0);
  }
}

// The same list under every compiler, optimisation level and machine.
TEST(Draw, FrozenVector) {
  std::vector<float> weights(160);
  for (int j = 0; j < 160; ++j) weights[j] = static_cast<float>(1 + j % 7);
  const auto drawn = Draws(weights).draw(64, 1234).order;
  const std::vector<uint32_t> kFrozen = {
      8, 50, 157, 34, 120, 40, 65, 33, 74, 147, 102, 55, 13, 101, 142, 144, 90, 75, 108, 159,
      121, 155, 16, 114, 46, 72, 27, 124, 59, 123, 32, 48, 146, 69, 128, 17, 143, 54, 133, 132,
      138, 137, 57, 145, 15, 61, 68, 18, 53, 23, 24, 79, 67, 31, 26, 135, 10, 60, 118, 103,
      5, 131, 73, 64};
  EXPECT_EQ(drawn, kFrozen);
}

}  // namespace
}  // namespace vase
