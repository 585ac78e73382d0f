#include "kernels/value_range/value_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace vase::kernels {
namespace {

TEST(ValueRange, HandComputed) {
  const std::vector<float> row = {3, -1, 0, 2};  // mean 1, squares of deviations 4 + 4 + 1 + 1
  EXPECT_EQ(value_magnitude(Magnitude::kRange, row), 4);
  EXPECT_FLOAT_EQ(value_magnitude(Magnitude::kVariance, row), 10.0f / 3);
  EXPECT_FLOAT_EQ(value_magnitude(Magnitude::kL2, row), std::sqrt(14.0f));
  EXPECT_EQ(value_magnitude(Magnitude::kAbsMax, row), 3);
  EXPECT_EQ(value_magnitude(Magnitude::kAbsMax, std::vector<float>{1, -5}), 5);
}

// A range far from zero: lanes that a short row leaves unused must not pull it towards zero.
TEST(ValueRange, ShortRowsFarFromZero) {
  EXPECT_EQ(value_magnitude(Magnitude::kRange, std::vector<float>{7}), 0);
  EXPECT_EQ(value_magnitude(Magnitude::kRange, std::vector<float>{7, 9, 8}), 2);
  EXPECT_EQ(value_magnitude(Magnitude::kRange, std::vector<float>{-7, -9, -8}), 2);
  EXPECT_EQ(value_magnitude(Magnitude::kVariance, std::vector<float>{7}), 0);
}

TEST(ValueRange, ConstantRowHasNoRangeAndNoVariance) {
  const std::vector<float> row(128, 0.3f);
  EXPECT_EQ(value_magnitude(Magnitude::kRange, row), 0);
  EXPECT_NEAR(value_magnitude(Magnitude::kVariance, row), 0, 1e-12);
}

TEST(ValueRange, EqualsDoubleArithmetic) {
  for (int width : {15, 16, 17, 64, 80, 100, 128, 256}) {
    std::mt19937 random(width);
    std::normal_distribution<float> normal(2, 3);
    std::vector<float> row(width);
    for (float& x : row) x = normal(random);
    double sum = 0, squares = 0, deviations = 0;
    for (float x : row) sum += x, squares += double(x) * x;
    for (float x : row) deviations += (x - sum / width) * (x - sum / width);
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    EXPECT_EQ(value_magnitude(Magnitude::kRange, row), *high - *low);
    EXPECT_EQ(value_magnitude(Magnitude::kAbsMax, row), std::max(-*low, *high));
    EXPECT_NEAR(value_magnitude(Magnitude::kL2, row), std::sqrt(squares), 1e-5 * std::sqrt(squares));
    EXPECT_NEAR(value_magnitude(Magnitude::kVariance, row), deviations / (width - 1),
                1e-5 * deviations / width);
  }
}

}  // namespace
}  // namespace vase::kernels
