// The quantiser on values worked out by hand, and what must hold for any values.
#include "eval/value_quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "eval/statistics.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

// Rows of normal numbers; row t is multiplied by 1 + t % 5 and shifted by `centre`.
std::vector<float> normal_rows(int tokens, int width, uint32_t seed, float centre = 0) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> rows;
  for (int i = 0; i < tokens * width; ++i) rows.push_back(centre + normal(generator) * (1 + i / width % 5));
  return rows;
}

double mean_error(const std::vector<float>& values, const QuantizedValues& quantized) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += std::abs(values[i] - quantized.decoded(i));
  return sum / static_cast<double>(values.size());
}

TEST(ValueQuantizer, ByHand) {
  // 2 bits over 2 .. 5: a = 1, z = -2, the ties 2.5 and 3.5 go to even codes.
  const std::vector<float> values = {2, 2.5, 3.5, 5, -5, -3.4f, -2.25f, -2};
  const QuantizedValues q = quantize_values(values, 8, {.bits = 2, .group = 4});
  EXPECT_EQ(q.codes, (std::vector<uint8_t>{0, 0, 2, 3, 0, 2, 3, 3}));
  EXPECT_EQ(q.scale, (std::vector<float>{1, 1}));
  EXPECT_EQ(q.zero, (std::vector<float>{-2, 5}));
  EXPECT_TRUE(q.mean_errors.empty());
  const TokenErrors errors = token_errors(values, q);
  EXPECT_NEAR(errors.squared_error.at(0), (0.25 + 0.25 + 0.16 + 0.0625) / 8, 1e-6);
  EXPECT_EQ(errors.range, std::vector<double>{10});
}

// e = 0.5 - 0.5^-0.3 / 10 for the first group's two errors of a half, 0 for those that the power outweighs.
TEST(ValueQuantizer, OneRefinementByHand) {
  const std::vector<float> values = {2, 2.5, 3.5, 5};
  const QuantizedValues q = quantize_values(values, 4, {.bits = 2, .group = 4, .iterations = 1});
  EXPECT_EQ(q.mean_errors, std::vector<float>{0.25f});
  const double e = 0.5 - std::pow(0.5, -0.3) / 10;
  // Q - (x - e) a: -2, 0 - (2.5 - e), 2 - (3.5 + e), -2 with the errors 0.5 and -0.5
  EXPECT_NEAR(q.zero[0], (-2 + (-2.5 + e) + (-1.5 - e) - 2) / 4, 1e-6);
}

TEST(ValueQuantizer, ScalesOfFlatAndNarrowGroups) {
  const std::vector<float> values = {3, 3, 7, 7.00005f, 0, 1.2e-4f};
  const QuantizedValues q = quantize_values(values, 6, {.bits = 2, .group = 2});
  EXPECT_EQ(q.scale, (std::vector<float>{1, 1, 2e4f}));  // 3 / 1.2e-4 is above the cap
  EXPECT_EQ(q.codes, (std::vector<uint8_t>{0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(q.decoded(1), 3);
  EXPECT_NEAR(q.decoded(3), 7.00005, 1e-4);  // the whole range
}

// Unrefined errors are at most half a step, also for groups that do not straddle 0.
TEST(ValueQuantizer, UnrefinedErrorIsAtMostHalfAStep) {
  for (const float centre : {0.0f, 30.0f, -30.0f}) {
    for (const int bits : {1, 2, 4, 8}) {
      const std::vector<float> values = normal_rows(50, 64, 1, centre);
      const QuantizedValues q = quantize_values(values, 64, {.bits = bits, .group = 32});
      for (size_t first = 0; first < values.size(); first += 32) {
        const auto [low, high] = std::ranges::minmax(std::span(values).subspan(first, 32));
        const double half_step = (high - low) / (2.0 * ((1 << bits) - 1));
        for (size_t i = first; i < first + 32; ++i) ASSERT_LE(std::abs(values[i] - q.decoded(i)), half_step + 2e-5);
      }
    }
  }
}

TEST(ValueQuantizer, RefinementNeverRaisesTheMeanError) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    for (const int bits : {2, 3, 4}) {
      const std::vector<float> values = normal_rows(40, 128, seed, seed % 3 * 2.0f);
      const double before = mean_error(values, quantize_values(values, 128, {.bits = bits, .group = 32}));
      const QuantizedValues q = quantize_values(values, 128, {.bits = bits, .group = 32, .iterations = 20});
      EXPECT_LE(mean_error(values, q), before) << "seed " << seed << ", " << bits << " bits";
      EXPECT_FLOAT_EQ(q.mean_errors.at(0), static_cast<float>(before));
      for (size_t i = 1; i + 1 < q.mean_errors.size(); ++i) ASSERT_LT(q.mean_errors[i], q.mean_errors[i - 1]);
    }
  }
}

// The zeros in use are those of the iteration that found no improvement: one more than without it.
TEST(ValueQuantizer, StopsWhenTheErrorFallsNoMore) {
  const std::vector<float> values = {0, 1, 2, 3};  // exact at once
  const QuantizedValues q = quantize_values(values, 4, {.bits = 2, .group = 4, .iterations = 20});
  EXPECT_EQ(q.mean_errors, (std::vector<float>{0, 0}));
  EXPECT_EQ(q.zero, std::vector<float>{0});
  const std::vector<float> other = normal_rows(4, 32, 3);
  const auto refined = [&](int iterations) {
    return quantize_values(other, 32, {.bits = 2, .group = 8, .iterations = iterations});
  };
  const QuantizedValues stopped = refined(1000);
  const int done = static_cast<int>(stopped.mean_errors.size());
  ASSERT_LT(done, 1000);
  ASSERT_GE(done, 2);
  EXPECT_GE(stopped.mean_errors[done - 1], stopped.mean_errors[done - 2]);
  EXPECT_EQ(stopped.zero, refined(done).zero);
  EXPECT_NE(stopped.zero, refined(done - 1).zero);
  EXPECT_NE(stopped.zero, refined(done - 2).zero);  // not back to those of the smallest error
}

// Of g normal values the two extremes lie on the grid, the others are off it by a uniform part of a step.
TEST(ValueQuantizer, SquaredErrorOfNormalValues) {
  for (const int group : {32, 64}) {
    const std::vector<float> values = normal_rows(4000, group, 7);  // one group per row: its range is the row's
    const TokenErrors errors = token_errors(values, quantize_values(values, group, {.bits = 4, .group = group}));
    double share = 0;
    for (size_t t = 0; t < errors.range.size(); ++t) share += errors.squared_error[t] / std::pow(errors.range[t], 2);
    share /= static_cast<double>(errors.range.size());
    const double expected = (group - 2.0) / group / (12 * 15 * 15);
    EXPECT_NEAR(share, expected, 0.05 * expected);
  }
}

TEST(ValueQuantizer, ErrorGrowsWithRange) {
  const std::vector<float> values = normal_rows(200, 128, 11);
  for (const int iterations : {0, 20}) {
    const QuantizedValues q = quantize_values(values, 128, {.bits = 2, .group = 32, .iterations = iterations});
    const TokenErrors errors = token_errors(values, q);
    EXPECT_GT(pearson(errors.squared_error, errors.range).value(), 0.5);
    EXPECT_GT(spearman(errors.squared_error, errors.range).value(), 0.5);
  }
}

TEST(ValueQuantizer, NoTokens) {
  const QuantizedValues q = quantize_values({}, 32, {.iterations = 20});
  EXPECT_TRUE(q.codes.empty());
  EXPECT_TRUE(q.mean_errors.empty());
  EXPECT_TRUE(token_errors({}, q).range.empty());
}

void expect_refused(const std::vector<float>& values, int width, const ValueQuantizer& quantizer, ErrorCode code,
                    const std::string& words) {
  try {
    quantize_values(values, width, quantizer);
    ADD_FAILURE() << "accepted: " << words;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(ValueQuantizer, RefusesWhatItCannotDo) {
  const std::vector<float> values(64, 1.0f);
  expect_refused(values, 64, {.bits = 0}, ErrorCode::kUsage, "1 to 8");
  expect_refused(values, 64, {.bits = 9}, ErrorCode::kUsage, "1 to 8");
  expect_refused(values, 64, {.group = 0}, ErrorCode::kUsage, "groups of 0");
  expect_refused(values, 64, {.group = 48}, ErrorCode::kUsage, "groups of 48");
  expect_refused(values, 48, {.group = 48}, ErrorCode::kUsage, "whole rows");
  expect_refused(values, 0, {}, ErrorCode::kUsage, "whole rows");
  expect_refused(values, 64, {.iterations = -1}, ErrorCode::kUsage, "iterations");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> broken = values;
    broken[37] = bad;
    expect_refused(broken, 32, {}, ErrorCode::kNonFinite, "channel 5 of row 1");
  }
  std::vector<float> wide = values;
  wide[40] = 3e38f, wide[41] = -3e38f;
  expect_refused(wide, 32, {}, ErrorCode::kNonFinite, "group 1");
}

}  // namespace
}  // namespace vase::eval
