// Small statistics against values worked out by hand (and NumPy's for the quantiles).
#include "eval/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace vase::eval {
namespace {

TEST(Statistics, MeanAndItsError) {
  const std::vector<double> values = {1, 2, 3, 6};
  EXPECT_DOUBLE_EQ(mean(values), 3);
  EXPECT_DOUBLE_EQ(standard_error(values), std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4));
  EXPECT_EQ(standard_error(std::vector<double>{5}), 0);
  EXPECT_EQ(mean({}), 0);
}

TEST(Statistics, QuantilesLieBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.99), 3.97);  // numpy.quantile([1, 2, 3, 4], 0.99)
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

}  // namespace
}  // namespace vase::eval
