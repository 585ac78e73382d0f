#include "policies/rope_turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace vase {
namespace {

TEST(RopeTurns, RotateByHand) {
  const std::vector<float> quarter = {std::acos(0.0f), 0};  // a quarter turn per position; none
  std::vector<float> row = {1, 5, 0, 6, 9};                 // pairs (1, 0) and (5, 6), then a channel that stays
  rotate({.frequencies = quarter}, 1, row);
  const std::vector<float> want = {0, 5, 1, 6, 9};
  for (int c = 0; c < 5; ++c) EXPECT_NEAR(row[c], want[c], 1e-6) << c;

  row = {1, 0, 5, 6, 9};  // the same pairs side by side
  rotate({.frequencies = quarter, .adjacent = true, .magnitude = 2}, 1, row);
  const std::vector<float> twice = {0, 2, 10, 12, 9};
  for (int c = 0; c < 5; ++c) EXPECT_NEAR(row[c], twice[c], 1e-6) << c;
}

TEST(RopeTurns, UnrotateUndoesAndProductsDependOnDistanceAlone) {
  const std::vector<float> frequencies = {1, 0.1f, 0.01f, 1e-4f};
  for (bool adjacent : {false, true}) {
    const Rope rope{.frequencies = frequencies, .adjacent = adjacent, .magnitude = 1.25f};
    const std::vector<float> a = {1, 2, 3, 4, -5, 6, 7, 8}, b = {3, -1, 4, 1, 5, 9, 2, 6};
    const auto product = [&](int64_t at_a, int64_t at_b) {
      std::vector<float> x = a, y = b;
      rotate(rope, at_a, x);
      rotate(rope, at_b, y);
      double dot = 0;
      for (int c = 0; c < 8; ++c) dot += double(x[c]) * y[c];
      return dot;
    };
    EXPECT_NEAR(product(40, 17), product(100040, 100017), 1e-3);
    std::vector<float> row = a;
    rotate(rope, 123456, row);
    unrotate(rope, 123456, row);
    for (int c = 0; c < 8; ++c) EXPECT_NEAR(row[c], a[c], 1e-5);
  }
}

TEST(RopeTurns, MeanTurnIsTheMeanOfTurns) {
  const std::vector<float> frequencies = {1, 0.05f, 1e-6f, 0, 6.2831855f};
  const Rope rope{.frequencies = frequencies};
  for (int f = 0; f < 5; ++f) {
    for (int count : {1, 2, 17, 512}) {
      for (int from : {0, 4096, 131072}) {
        std::complex<double> sum = 0;
        for (int p = from; p < from + count; ++p) sum += turn_at(rope, f, p);
        EXPECT_LT(std::abs(mean_turn(rope, f, from, count) - sum / double(count)), 1e-9) << f << " " << count;
      }
    }
  }
}

}  // namespace
}  // namespace vase
