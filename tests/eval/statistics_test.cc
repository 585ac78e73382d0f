// Small statistics against values worked out by hand (and NumPy's or SciPy's for the quantiles).
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

// scipy.stats.t.ppf(0.975, degrees)
TEST(Statistics, FewValuesNeedMoreStandardErrors) {
  const std::pair<int, double> expected[] = {{1, 12.7062047},  {2, 4.30265273},  {3, 3.18244631},
                                             {5, 2.57058184},  {10, 2.22813885}, {19, 2.09302405},
                                             {30, 2.04227246}, {100, 1.98397152}};
  for (const auto& [degrees, t] : expected) EXPECT_NEAR(t_quantile(degrees), t, 1e-8 * t) << degrees;
  EXPECT_NEAR(t_quantile(1000000), 1.959963985, 1e-5) << "the normal distribution's";
}

TEST(Statistics, QuantilesLieBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.99), 3.97);  // numpy.quantile([1, 2, 3, 4], 0.99)
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

TEST(Statistics, Correlations) {
  const std::vector<double> a = {1, 2, 3, 4}, cubes = {1, 8, 27, 64}, tied = {5, 1, 5, 0};
  EXPECT_DOUBLE_EQ(*pearson(a, a), 1);
  // Differences to the means 2.5 and 25: their products sum up to 104, their squares to 5 and 2390.
  EXPECT_DOUBLE_EQ(*pearson(a, cubes), 104 / std::sqrt(5 * 2390.0));
  EXPECT_DOUBLE_EQ(*spearman(a, cubes), 1);
  // ranks 2.5, 1, 2.5, 0: their products sum up to -3, their squares to 5 and 4.5
  EXPECT_DOUBLE_EQ(*spearman(a, tied), -3 / std::sqrt(5 * 4.5));
  EXPECT_EQ(pearson(a, std::vector<double>(4, 0.1)), std::nullopt);
  EXPECT_EQ(spearman(std::vector<double>(4, 0.1), a), std::nullopt);
  EXPECT_EQ(pearson({}, {}), std::nullopt);
}

}  // namespace
}  // namespace vase::eval
