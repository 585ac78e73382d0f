// Random numbers that must be the same everywhere.
#include "eval/random.h"

#include <gtest/gtest.h>

#include <array>

namespace vase::eval {
namespace {

// The first values of SplitMix64 for the seed 1234567, as its published test values have them.
TEST(Random, IsSplitMix64) {
  Random random(1234567);
  for (uint64_t value : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                         16408922859458223821u}) {
    EXPECT_EQ(random.next(), value);
  }
}

TEST(Random, EveryNumberBelowIsAsLikely) {
  constexpr int kDraws = 60000;
  Random random(7);
  std::array<int, 6> seen{};
  for (int i = 0; i < kDraws; ++i) ++seen[random.below(6)];
  double chi_square = 0;
  for (int count : seen) chi_square += (count - kDraws / 6.0) * (count - kDraws / 6.0) / (kDraws / 6.0);
  EXPECT_LT(chi_square, 20.5);  // 99.9 % quantile with 5 degrees of freedom: scipy.stats.chi2.ppf(0.999, 5) = 20.515
}

TEST(Random, RangesIncludeBothEnds) {
  Random random(1);
  bool low = false, high = false;
  for (int i = 0; i < 200; ++i) {
    const int value = random.between(-2, 3);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 3);
    low = low || value == -2;
    high = high || value == 3;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(random.between(5, 5), 5);
}

// Test values of FNV-1a, 64 bits.
TEST(Random, SeedsFromTextsAreFnv1a) {
  EXPECT_EQ(seed_from(""), 0xcbf29ce484222325u);
  EXPECT_EQ(seed_from("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(seed_from("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace vase::eval
