// Statistics of results against values worked out by hand or by SciPy.
#include "eval/paired.h"

#include <gtest/gtest.h>

#include <vector>

#include "vase/error.h"

namespace vase::eval {
namespace {

std::vector<double> differences(int better, int worse, int equal) {
  std::vector<double> values(static_cast<size_t>(better), 0.25);
  values.insert(values.end(), static_cast<size_t>(worse), -1.0);
  values.insert(values.end(), static_cast<size_t>(equal), 0.0);
  return values;
}

// Two problems: the mean of a resample is 0, 1/2 or 1 with probability 1/4, 1/2, 1/4, so both ends lie in the outer
// ones. Four with a single one: k/4 with k of Binomial(4, 1/4). P(k = 0) = 0.316 and P(k <= 2) = 0.949 < 0.975 < P(k <=
// 3) = 0.996.
TEST(Bootstrap, SmallListsWorkedOutByHand) {
  const Interval two = *bootstrap_interval(std::vector<double>{0, 1}, 10000, 1);
  EXPECT_EQ(two.low, 0);
  EXPECT_EQ(two.high, 1);
  const Interval four = *bootstrap_interval(std::vector<double>{0, 0, 1, 0}, 10000, 1);
  EXPECT_EQ(four.low, 0);
  EXPECT_EQ(four.high, 0.75);
}

// scipy.stats.bootstrap((values,), numpy.mean, n_resamples=1000000, method='percentile'): (-0.1375, 0.26875)
TEST(Bootstrap, LikeSciPy) {
  const std::vector<double> values = {0.25, -0.5, 0,    0,      0.75, -0.25, 0.125, 0.5,   -1, 0,
                                      0,    0.25, 0.25, -0.125, 1,    0,     -0.75, 0.375, 0,  0.5};
  const Interval interval = *bootstrap_interval(values, 20000, 5);
  EXPECT_NEAR(interval.low, -0.1375, 0.0125);
  EXPECT_NEAR(interval.high, 0.26875, 0.0125);
}

TEST(Bootstrap, EqualDifferencesSayNothing) {
  EXPECT_FALSE(bootstrap_interval(std::vector<double>(9, -0.5), 100, 3));
  EXPECT_FALSE(bootstrap_interval(std::vector<double>{1}, 100, 3));
  EXPECT_FALSE(bootstrap_interval({}, 100, 3));
}

TEST(Bootstrap, TheSeedDecides) {
  const std::vector<double> values = {0.25, -0.5, 0, 0, 0.75, -0.25, 0.125};
  const Interval a = *bootstrap_interval(values, 200, 1), again = *bootstrap_interval(values, 200, 1);
  const Interval b = *bootstrap_interval(values, 200, 2);
  EXPECT_EQ(a.low, again.low);
  EXPECT_EQ(a.high, again.high);
  EXPECT_TRUE(a.low != b.low || a.high != b.high);
}

TEST(Bootstrap, NoDraws) {
  EXPECT_THROW(bootstrap_interval(std::vector<double>{1}, 0, 1), Error);
}

// scipy.stats.binomtest(better, better + worse).pvalue
TEST(SignTest, LikeSciPy) {
  EXPECT_NEAR(sign_test(differences(3, 7, 5)), 0.34375, 1e-12);
  EXPECT_NEAR(sign_test(differences(7, 3, 0)), 0.34375, 1e-12);
  EXPECT_NEAR(sign_test(differences(1, 11, 2)), 0.00634765625, 1e-12);
  EXPECT_NEAR(sign_test(differences(20, 44, 0)), 0.0036899642765400487, 1e-12);
  EXPECT_EQ(sign_test(differences(5, 5, 3)), 1);
  EXPECT_EQ(sign_test(differences(0, 1, 0)), 1);
}

TEST(SignTest, ManyProblems) {  // 2^-n underflows
  EXPECT_NEAR(sign_test(differences(480, 620, 0)), 2.7131381093007078e-05, 1e-14);
  EXPECT_NEAR(sign_test(differences(1100, 900, 0)), 8.457089535503927e-06, 1e-14);
}

TEST(SignTest, NothingToCompare) {
  EXPECT_EQ(sign_test({}), 1);
  EXPECT_EQ(sign_test(differences(0, 0, 8)), 1);
}

// scipy.stats.binomtest(right, total).proportion_ci(0.95, method='wilson')
TEST(Wilson, LikeSciPy) {
  const struct {
    int64_t right, total;
    double low, high;
  } cases[] = {{7, 10, 0.39677814746114537, 0.8922087325936989},
               {0, 5, 0, 0.43448246478317476},
               {5, 5, 0.5655175352168251, 1},
               {64, 100, 0.5423540245160874, 0.7272877959859567},
               {1, 1000, 0.00017654637062607852, 0.0056425585979579355}};
  for (const auto& c : cases) {
    const Interval interval = wilson_interval(c.right, c.total);
    EXPECT_NEAR(interval.low, c.low, 1e-12) << c.right << " of " << c.total;
    EXPECT_NEAR(interval.high, c.high, 1e-12) << c.right << " of " << c.total;
  }
}

TEST(Wilson, NothingYetAndNonsense) {
  const Interval none = wilson_interval(0, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 1);
  EXPECT_THROW(wilson_interval(3, 2), Error);
  EXPECT_THROW(wilson_interval(-1, 2), Error);
}

}  // namespace
}  // namespace vase::eval
