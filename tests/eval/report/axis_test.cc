// Scales and ticks, worked out by hand.
#include "eval/report/axis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "vase/error.h"

namespace vase::eval::report {
namespace {

std::vector<std::string> texts(const Axis& axis) {
  std::vector<std::string> list;
  for (const Tick& tick : axis.ticks) list.push_back(tick.text);
  return list;
}

using Texts = std::vector<std::string>;

TEST(LinearAxis, GoesFromZeroToARoundNumber) {
  EXPECT_EQ(texts(linear_axis(100, "")), (Texts{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(texts(linear_axis(7.3, "")), (Texts{"0", "2", "4", "6", "8"}));
  EXPECT_EQ(texts(linear_axis(0.3, "")), (Texts{"0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"}));
  EXPECT_EQ(texts(linear_axis(4296, "")), (Texts{"0", "1000", "2000", "3000", "4000", "5000"}));
  EXPECT_EQ(texts(linear_axis(1048576 * 6.0, "")).back(), "8000000");
}

TEST(LinearAxis, IsNeverEmpty) {
  for (const double highest : {0.0, -3.0, std::nan("")}) {
    const Axis axis = linear_axis(highest, "");
    EXPECT_EQ(axis.high, 1);
    EXPECT_GE(axis.ticks.size(), 2u);
  }
}

TEST(LinearAxis, HoldsEveryValueWithFewTicks) {
  for (double highest = 1e-6; highest < 1e12; highest *= 1.37) {
    const Axis axis = linear_axis(highest, "");
    EXPECT_GE(axis.high, highest * (1 - 1e-8));
    EXPECT_LE(axis.high, highest * 2.01) << highest;
    EXPECT_LE(axis.ticks.size(), 7u) << highest;
    EXPECT_DOUBLE_EQ(axis.ticks.back().value, axis.high);
  }
}

TEST(LogAxis, HasOneTwoFiveWithinThreePowers) {
  EXPECT_EQ(texts(log_axis(0.03, 0.8, "")), (Texts{"0.02", "0.05", "0.1", "0.2", "0.5", "1"}));
  EXPECT_EQ(texts(log_axis(0.001, 1, "")),
            (Texts{"0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"}));
  EXPECT_EQ(texts(log_axis(5, 5, "")), (Texts{"5", "10"}));
}

TEST(LogAxis, HasPowersAloneBeyond) {
  EXPECT_EQ(texts(log_axis(0.0003, 4, "")), (Texts{"0.001", "0.01", "0.1", "1"}));
  const Axis wide = log_axis(1e-300, 1e6, "");
  EXPECT_LE(wide.ticks.size(), 10u);
  EXPECT_GE(wide.ticks.size(), 2u);
}

TEST(LogAxis, HoldsEveryRange) {
  for (double low = 1e-9; low < 1e5; low *= 1.9) {
    for (double high = low; high < 1e6; high *= 2.3) {
      const Axis axis = log_axis(low, high, "");
      EXPECT_LE(axis.low, low * (1 + 1e-8));
      EXPECT_GE(axis.high, high * (1 - 1e-8));
      EXPECT_LT(axis.low, axis.high);
      EXPECT_LE(axis.ticks.size(), 11u);
    }
  }
}

TEST(LogAxis, RefusesWhatHasNoLogarithm) {
  EXPECT_THROW(log_axis(0, 1, ""), Error);
  EXPECT_THROW(log_axis(-1, 1, ""), Error);
  EXPECT_THROW(log_axis(2, 1, ""), Error);
  EXPECT_THROW(log_axis(std::nan(""), 1, ""), Error);
}

TEST(Place, IsAShareOfTheAxis) {
  const Axis linear = linear_axis(100, ""), log = log_axis(0.01, 1, "");
  EXPECT_DOUBLE_EQ(linear.place(25), 0.25);
  EXPECT_DOUBLE_EQ(linear.place(-1), 0);
  EXPECT_DOUBLE_EQ(linear.place(120), 1);
  EXPECT_NEAR(log.place(0.1), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(log.place(0), 0);
  EXPECT_DOUBLE_EQ(log.place(-5), 0);
}

TEST(AxisAt, HasTicksWhereTheValuesAre) {
  const Axis axis = axis_at({512, 128, 256}, "");
  EXPECT_EQ(texts(axis), (Texts{"128", "256", "512"}));
  EXPECT_GT(axis.place(128), 0.02);
  EXPECT_LT(axis.place(512), 0.98);
  EXPECT_NEAR(axis.place(256), 0.5, 1e-12);
}

TEST(AxisAt, OneValueStandsInTheMiddle) { EXPECT_NEAR(axis_at({64}, "").place(64), 0.5, 1e-12); }

TEST(AxisAt, TicksDoNotStandOnEachOther) {
  EXPECT_EQ(texts(axis_at({100, 101, 1000}, "")), (Texts{"100", "1000"}));
}

TEST(PlainNumber, HasNoExponent) {
  EXPECT_EQ(plain_number(1048576), "1048576");
  EXPECT_EQ(plain_number(0.002), "0.002");
}

}  // namespace
}  // namespace vase::eval::report
