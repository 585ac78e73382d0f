#include "policies/rope_turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace vase {
namespace {

TEST(RopeTurns, TurnsPairsByHand) {
  const std::vector<float> quarter = {std::acos(0.0f), 0};  // a quarter turn per position; none
  const Rope halves{.frequencies = quarter}, adjacent{.frequencies = quarter, .adjacent = true};
  std::vector<float> row = {1, 5, 0, 6, 9};  // pairs (1, 0) and (5, 6), then a channel that stays
  turn_pair(halves, 0, turn_at(halves, 0, 1), row);
  turn_pair(halves, 1, 2.0 * turn_at(halves, 1, 1), row);
  const std::vector<float> want = {0, 10, 1, 12, 9};
  for (int c = 0; c < 5; ++c) EXPECT_NEAR(row[c], want[c], 1e-6) << c;
  row = {1, 0, 5, 6, 9};  // the same pairs side by side
  turn_pair(adjacent, 0, turn_at(adjacent, 0, 1), row);
  const std::vector<float> beside = {0, 1, 5, 6, 9};
  for (int c = 0; c < 5; ++c) EXPECT_NEAR(row[c], beside[c], 1e-6) << c;
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
