#include "eval/report/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace vase::eval::report {
namespace {

using Places = std::vector<double>;

TEST(SpreadApart, LeavesAloneWhatIsFarApart) {
  EXPECT_EQ(spread_apart({80, 10, 40}, 15, 0, 100), (Places{80, 10, 40}));
}

TEST(SpreadApart, MovesNeighboursByTheSameWay) {
  EXPECT_EQ(spread_apart({50, 50}, 10, 0, 100), (Places{45, 55}));
  EXPECT_EQ(spread_apart({50, 50, 50}, 10, 0, 100), (Places{40, 50, 60}));
  EXPECT_EQ(spread_apart({52, 50}, 10, 0, 100), (Places{56, 46}));
}

TEST(SpreadApart, StaysWithinTheBounds) {
  EXPECT_EQ(spread_apart({0, 0, 0}, 10, 0, 100), (Places{0, 10, 20}));
  EXPECT_EQ(spread_apart({100, 130}, 10, 0, 100), (Places{90, 100}));
}

TEST(SpreadApart, StandsEvenlyWhereThereIsNoRoom) {
  EXPECT_EQ(spread_apart({1, 2, 3, 4, 5}, 50, 0, 100), (Places{0, 25, 50, 75, 100}));
}

TEST(SpreadApart, NothingAndOne) {
  EXPECT_TRUE(spread_apart({}, 10, 0, 100).empty());
  EXPECT_EQ(spread_apart({-7}, 10, 0, 100), (Places{0}));
}

TEST(SpreadApart, NeverCoversALabelAndKeepsTheOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Places wanted(1 + random() % 8);
    for (double& place : wanted) place = static_cast<double>(random() % 400) - 50;
    const Places places = spread_apart(wanted, 15, 34, 334);
    for (size_t i = 0; i < places.size(); ++i) {
      EXPECT_GE(places[i], 34);
      EXPECT_LE(places[i], 334);
      for (size_t j = 0; j < places.size(); ++j) {
        if (i != j) EXPECT_GE(std::abs(places[i] - places[j]), 15 - 1e-9);
        if (wanted[i] < wanted[j]) EXPECT_LT(places[i], places[j]);
      }
    }
  }
}

}  // namespace
}  // namespace vase::eval::report
