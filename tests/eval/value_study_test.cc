// The study of values on rows worked out by hand.
#include "eval/value_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eval/statistics.h"

namespace vase::eval {
namespace {

// Two KV heads of two channels; token t of head h spans `ranges[h][t]`, from 0.
TextValues text_of(int text, const std::vector<std::vector<float>>& ranges, int skip = 0) {
  const int tokens = static_cast<int>(ranges[0].size());
  TextValues values = TextValues::sized(text, 2, tokens, 2, skip);
  std::vector<float> rows;
  for (int t = 0; t < tokens; ++t) {
    for (int h = 0; h < 2; ++h) rows.insert(rows.end(), {0, ranges[h][t]});
  }
  values.put(0, rows);
  return values;
}

TEST(TextValues, HeadsComeFirstAndSkippedTokensAreLeftOut) {
  TextValues values = TextValues::sized(0, 2, 3, 2, 1);
  values.put(0, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});  // tokens 0 and 1
  values.put(2, std::vector<float>{9, 10, 11, 12});
  EXPECT_EQ(values.tokens, 2);
  EXPECT_EQ(values.values, (std::vector<float>{5, 6, 9, 10, 7, 8, 11, 12}));
}

TEST(TextValues, ATextNoLongerThanWhatIsSkippedHasNoRows) {
  TextValues values = TextValues::sized(0, 2, 3, 2, 4);
  values.put(0, std::vector<float>(12, 1));
  EXPECT_EQ(values.tokens, 0);
  EXPECT_TRUE(values.values.empty());
}

TEST(ValueStudy, RangesByHand) {
  ValueStudy study(2, {});
  study.add(1, text_of(0, {{1, 1, 1}, {1, 1, 9}}));
  study.add(1, text_of(1, {{1, 2}, {1, 1}}));
  const RangeStudy ranges = study.ranges(1, 3, 2);
  EXPECT_EQ(ranges.rows, 10u);
  EXPECT_DOUBLE_EQ(ranges.mean, 1.9);
  EXPECT_EQ(ranges.median, 1);
  EXPECT_DOUBLE_EQ(ranges.p99, 8.37);  // 2 + 0.91 * 7
  EXPECT_EQ(ranges.largest, 9);
  EXPECT_EQ(ranges.outliers, 1u);
  EXPECT_NEAR(ranges.skewness, 2.5940, 1e-4);  // scipy.stats.skew([1, 1, 1, 1, 1, 9, 1, 2, 1, 1])
  ASSERT_EQ(ranges.farthest.size(), 2u);
  EXPECT_EQ(ranges.farthest[0].range, 9);
  EXPECT_EQ(ranges.farthest[0].text, 0);
  EXPECT_EQ(ranges.farthest[0].kv_head, 1);
  EXPECT_EQ(ranges.farthest[0].position, 2);
  EXPECT_EQ(ranges.farthest[1].text, 1);
  EXPECT_EQ(study.ranges(0, 3, 2).rows, 0u);
}

// Two channels in one group: whatever the range, the two lie on the grid, so nothing is lost; one channel between them
// is.
TEST(ValueStudy, ErrorsGrowWithTheRange) {
  ValueStudy study(1, {{.bits = 2, .group = 4}, {.bits = 4, .group = 4}});
  TextValues values = TextValues::sized(0, 1, 3, 4, 0);
  // Half of the range lies between the codes 1 and 2 of 2 bits, and off by half a step of range / 3.
  values.put(0, std::vector<float>{0, 1, 0.5, 0, 0, 2, 1, 0, 0, 4, 2, 0});
  study.add(0, values);
  const QuantizerStudy two = study.quantizer(0, 0);
  EXPECT_EQ(two.rows, 3u);
  EXPECT_NEAR(two.squared_error, (1 + 4 + 16) / 36.0 / 4 / 3, 1e-7);
  EXPECT_NEAR(*two.pearson_squares, 1, 1e-9);
  EXPECT_NEAR(*two.pearson, *pearson(std::vector<double>{1, 4, 16}, std::vector<double>{1, 2, 4}), 1e-6);
  EXPECT_NEAR(*two.spearman, 1, 1e-12);
  EXPECT_LT(study.quantizer(0, 1).squared_error, two.squared_error / 20);  // 25 times finer steps
}

TEST(ValueStudy, EqualRangesHaveNoCorrelation) {
  ValueStudy study(1, {{.bits = 2, .group = 2}});
  study.add(0, text_of(0, {{2, 2}, {2, 2}}));
  EXPECT_FALSE(study.quantizer(0, 0).pearson);
  EXPECT_EQ(study.ranges(0, 3, 8).skewness, 0);
}

// Medians are 2 in layer 0 and 1 in layer 1.
TEST(ValueStudy, PlacesByHand) {
  ValueStudy study(3, {});
  study.add(0, text_of(0, {{2, 2, 2, 6}, {2, 2, 2, 2}}));
  study.add(1, text_of(0, {{1, 1, 1, 1}, {1, 3, 1, 1}}));
  study.add(2, text_of(0, {{0, 0, 0, 9}, {0, 0, 0, 0}}));  // no median to divide by
  const std::vector<PlaceRange> places = study.places(2);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].first, 0);
  EXPECT_EQ(places[1].first, 2);
  EXPECT_DOUBLE_EQ(places[0].mean, 1.25);  // seven times 1, and 3
  EXPECT_DOUBLE_EQ(places[0].largest, 3);
  EXPECT_DOUBLE_EQ(places[1].mean, 1.25);
  EXPECT_DOUBLE_EQ(places[1].largest, 3);
  EXPECT_EQ(study.places(64).size(), 4u);
  EXPECT_TRUE(ValueStudy(1, {}).places(64).empty());
}

}  // namespace
}  // namespace vase::eval
