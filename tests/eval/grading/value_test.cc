// Numbers, exact and close.
#include "eval/grading/value.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vase::eval::grading {
namespace {

TEST(Value, TheRootOfMinusOne) {
  const Value i = imaginary_unit();
  EXPECT_TRUE(same_value(product(i, i), whole(-1)));
  EXPECT_EQ(*product(i, i).exact, kPrime - 1);
}

TEST(Value, NumbersOfAnyLength) {
  EXPECT_TRUE(same_value(number("0.125"), *quotient(whole(1), whole(8))));
  EXPECT_TRUE(same_value(number("0.1(6)"), *quotient(whole(1), whole(6))));
  EXPECT_TRUE(same_value(number("0.(9)"), whole(1)));
  EXPECT_TRUE(same_value(number("12.(45)"), *quotient(whole(1233), whole(99))));
  EXPECT_FALSE(same_value(number("0.33333333333333333333"), *quotient(whole(1), whole(3))));
  const std::string long_number(500, '7');
  EXPECT_TRUE(same_value(number(long_number), number("000" + long_number)));
  EXPECT_FALSE(same_value(number(long_number), sum(number(long_number), whole(1))));
  EXPECT_TRUE(std::isinf(number(long_number).close.real()));
  EXPECT_EQ(number("0." + std::string(500, '0') + "1").close.real(), 0);
}

TEST(Value, WholePowersAreExact) {
  EXPECT_EQ(power(whole(2), whole(70))->exact, product(*power(whole(2), whole(60)), whole(1024)).exact);
  EXPECT_TRUE(same_value(*power(whole(4), whole(-1)), number("0.25")));
  EXPECT_TRUE(same_value(*power(whole(0), whole(0)), whole(1)));
  EXPECT_FALSE(power(whole(0), whole(-1)));
  EXPECT_FALSE(quotient(whole(1), whole(0)));
  const Value large = *power(whole(9), whole(int64_t{1} << 40));  // no double, and no time at all
  EXPECT_TRUE(large.exact && std::isinf(large.close.real()));
}

TEST(Value, Roots) {
  const Value half = number("0.5"), third = *quotient(whole(1), whole(3));
  EXPECT_NEAR(power(whole(2), half)->close.real(), std::sqrt(2), 1e-15);
  EXPECT_NEAR(power(whole(-8), third)->close.real(), -2, 1e-12);
  EXPECT_NEAR(power(whole(-8), *quotient(whole(2), whole(3)))->close.real(), 4, 1e-12);
  EXPECT_NEAR(power(whole(-4), half)->close.imag(), 2, 1e-12);
  EXPECT_NEAR(power(product(whole(-2), whole(2)), half)->close.imag(), 2, 1e-12);  // not -2 for an imaginary -0
}

TEST(Value, ClosenessWithoutExactness) {
  const Value root = *power(whole(2), number("0.5"));
  EXPECT_TRUE(same_value(root, {root.close * (1 + 1e-10), {}}));
  EXPECT_FALSE(same_value(root, {root.close * (1 + 1e-8), {}}));
  EXPECT_TRUE(same_value({1e-14, {}}, whole(0)));
  EXPECT_FALSE(same_value({NAN, {}}, {NAN, {}}));
  EXPECT_FALSE(same_value(number(std::to_string(kPrime)), whole(0)));
}

TEST(Value, WholeNumbers) {
  EXPECT_EQ(as_whole(whole(-7)), -7);
  EXPECT_EQ(as_whole(number("7.0")), 7);
  EXPECT_FALSE(as_whole(number("7.5")));
  EXPECT_FALSE(as_whole(number("7.00000000000000000001")));
  EXPECT_FALSE(as_whole(number("99999999999999999999")));
  EXPECT_FALSE(as_whole(imaginary_unit()));
}

}  // namespace
}  // namespace vase::eval::grading
