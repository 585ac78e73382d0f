// The products of strips: against decoded rows in double, and what they may not depend on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "filled_strips.h"
#include "kernels/on_every_target.h"
#include "kernels/strips/mixing.h"

namespace vase::kernels {
namespace {

constexpr double kNumberError = 4e-7;  // of the largest of its block

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected, const std::vector<double>& bound) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], bound[i]) << i;
}

struct Shape {
  CodeBits bits;
  int width, slots, heads, first = 0;
};

// Rows as products see them.
std::vector<float> multiplied(CodeBits bits, const std::vector<float>& row) {
  return is_mixed(bits) ? mixed_by_matrix(row) : row;
}

// Largest, and sum, of the magnitudes of a block.
double largest_of_block(const std::vector<float>& row, int block) {
  double largest = 0;
  for (int i = 0; i < kStripBlock; ++i) largest = std::max(largest, std::abs(double(row[block * kStripBlock + i])));
  return largest;
}
double sum_of_block(const std::vector<float>& row, int block) {
  double sum = 0;
  for (int i = 0; i < kStripBlock; ++i) sum += std::abs(double(row[block * kStripBlock + i]));
  return sum;
}

// The logit of a query and a key, as products see them, with every number of the query as large as the largest of its block.
double largest_logit(const std::vector<float>& query, const std::vector<float>& key) {
  double sum = 0;
  for (size_t b = 0; b < query.size() / kStripBlock; ++b) sum += largest_of_block(query, b) * sum_of_block(key, b);
  return sum;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return sum;
}

void expect_dots(const Shape& shape) {
  Filled keys(StripKind::kKeys, shape.bits, shape.width, shape.first + shape.slots, 1);
  std::vector<float> queries = normals(size_t(shape.heads) * shape.width, 2, 3);
  for (int c = 0; c < shape.width; c += 7) queries[c] *= 50;  // channels that are far larger than others
  const ptrdiff_t stride = shape.slots + 40;
  std::vector<std::vector<float>> rows, seen;
  for (int s = 0; s < shape.slots; ++s) {
    rows.push_back(read(keys.strips, shape.first + s));
    seen.push_back(multiplied(shape.bits, rows.back()));
  }
  std::vector<double> expected, bound;
  for (int h = 0; h < shape.heads; ++h) {
    const float* const first = &queries[h * shape.width];
    const std::vector<float> query(first, first + shape.width), seen_query = multiplied(shape.bits, query);
    for (int s = 0; s < shape.slots; ++s) {
      expected.push_back(dot(query, rows[s]));
      bound.push_back(kNumberError * largest_logit(seen_query, seen[s]));
    }
  }
  for (const Path path : {Path::kReference, Path::kFused}) {
    std::vector<float> logits(shape.heads * stride), used;
    strip_dots(path, {keys.strips, shape.first, shape.slots, queries.data(), shape.heads, logits.data(), stride});
    for (int h = 0; h < shape.heads; ++h)
      used.insert(used.end(), &logits[h * stride], &logits[h * stride + shape.slots]);
    expect_near(used, expected, bound);
  }
}

// The weighted values of a block with every weight, times the size of its slot's numbers, as large as the largest; of each
// channel. values: as products see them. A sum that is mixed back has a part of every channel's.
std::vector<double> largest_values(CodeBits bits, const float* weights, const std::vector<std::vector<float>>& values,
                                   int block) {
  double largest = 0, of_block = 0;
  std::vector<double> sums(kStripBlock);
  for (size_t s = 0; s < values.size(); ++s) {
    const double size = largest_of_block(values[s], block);
    largest = std::max(largest, weights[s] * size);
    for (int i = 0; i < kStripBlock; ++i) sums[i] += std::abs(values[s][block * kStripBlock + i]) / size;
  }
  for (double& sum : sums) of_block += sum *= largest;
  if (is_mixed(bits)) sums.assign(kStripBlock, of_block * kMixingScale);
  return sums;
}

void expect_sums(const Shape& shape) {
  Filled values(StripKind::kValues, shape.bits, shape.width, shape.first + shape.slots, 3);
  const ptrdiff_t stride = shape.slots + 5;
  std::vector<float> weights = normals(shape.heads * stride, 4);
  for (float& w : weights) w = std::exp(4 * w);  // some slots have nearly all of the weight
  std::vector<std::vector<float>> rows, seen;
  for (int s = 0; s < shape.slots; ++s) {
    rows.push_back(read(values.strips, shape.first + s));
    seen.push_back(multiplied(shape.bits, rows.back()));
  }
  std::vector<double> expected(size_t(shape.heads) * shape.width, 0.5), bound;
  for (int h = 0; h < shape.heads; ++h) {
    const float* const own = &weights[h * stride];
    for (int b = 0; b < shape.width / kStripBlock; ++b) {
      for (const double largest : largest_values(shape.bits, own, seen, b)) bound.push_back(largest);
    }
    for (int c = 0; c < shape.width; ++c) {
      double& sum = expected[h * shape.width + c];
      for (int s = 0; s < shape.slots; ++s) sum += double(own[s]) * rows[s][c];
    }
  }
  for (size_t i = 0; i < bound.size(); ++i) bound[i] = kNumberError * (bound[i] + 0.5);  // with what the sum is added to
  for (const Path path : {Path::kReference, Path::kFused}) {
    std::vector<float> out(expected.size(), 0.5f);
    strip_sums(path, {values.strips, shape.first, shape.slots, weights.data(), stride, shape.heads, out.data()});
    expect_near(out, expected, bound);
  }
}

TEST(StripProducts, ProductsEqualThoseOfDecodedRows) {
  on_every_variant([] {
    int index = 0;
    for (const CodeBits bits : {CodeBits::k8, CodeBits::k4}) {
      for (const int width : kStripWidths) {
        for (const int slots : {1, 15, 16, 17, 100, 256}) {
          SCOPED_TRACE(testing::Message() << width << " channels, " << slots << " slots, case " << index);
          const Shape shape{bits, width, slots, 1 + index % 9, index % 2 * 32};
          expect_dots(shape);
          expect_sums(shape);
          ++index;
        }
      }
    }
  });
}

TEST(StripProducts, ResultsDoNotDependOnTheOtherHeads) {
  Filled keys(StripKind::kKeys, CodeBits::k4, 128, 64, 1), values(StripKind::kValues, CodeBits::k4, 128, 64, 2);
  const std::vector<float> queries = normals(5 * 128, 3), weights = normals(5 * 64, 4);
  on_every_target([&] {
    std::vector<float> logits(5 * 64), alone(64), out(5 * 128), out_alone(128);
    strip_dots(Path::kFused, {keys.strips, 0, 64, queries.data(), 5, logits.data(), 64});
    strip_dots(Path::kFused, {keys.strips, 0, 64, queries.data() + 2 * 128, 1, alone.data(), 64});
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), logits.begin() + 2 * 64));
    strip_sums(Path::kFused, {values.strips, 0, 64, weights.data(), 64, 5, out.data()});
    strip_sums(Path::kFused, {values.strips, 0, 64, weights.data() + 2 * 64, 64, 1, out_alone.data()});
    EXPECT_TRUE(std::equal(out_alone.begin(), out_alone.end(), out.begin() + 2 * 128));
  });
}

// Logits of 40 slots, and the sums of their values, of one head.
struct Products {
  std::vector<float> logits, sums;
  bool operator==(const Products&) const = default;
};

Products products(const Strips& keys, const Strips& values, const std::vector<float>& query, const std::vector<float>& weights) {
  Products both{std::vector<float>(48), std::vector<float>(values.width)};
  strip_dots(Path::kFused, {keys, 0, 40, query.data(), 1, both.logits.data(), 48});
  strip_sums(Path::kFused, {values, 0, 40, weights.data(), 40, 1, both.sums.data()});
  both.logits.resize(40);
  return both;
}

TEST(StripProducts, ResultsDoNotDependOnWhichSlotsLieSideBySide) {
  const std::vector<float> query = normals(96, 3), weights = normals(40, 4);
  const std::vector<float> key_rows = normals(40 * 96, 1), value_rows = normals(40 * 96, 2);  // those of Filled
  std::vector<int> order(40);  // slot of the one that was at an index
  for (int s = 0; s < 40; ++s) order[s] = (s * 7 + 3) % 40;
  for (const CodeBits bits : {CodeBits::k8, CodeBits::k4}) {
    const Filled keys(StripKind::kKeys, bits, 96, 40, 1), values(StripKind::kValues, bits, 96, 40, 2);
    const Filled other_keys(StripKind::kKeys, bits, 96, 40, 5), other_values(StripKind::kValues, bits, 96, 40, 6);
    std::vector<float> other_weights(40);
    for (int s = 0; s < 40; ++s) {
      store_in_strips(other_keys.strips, order[s], &key_rows[s * 96]);
      store_in_strips(other_values.strips, order[s], &value_rows[s * 96]);
      other_weights[order[s]] = weights[s];
    }
    on_every_variant([&] {
      const Products expected = products(keys.strips, values.strips, query, weights);
      const Products actual = products(other_keys.strips, other_values.strips, query, other_weights);
      EXPECT_EQ(actual.sums, expected.sums);
      for (int s = 0; s < 40; ++s) EXPECT_EQ(actual.logits[order[s]], expected.logits[s]) << s;
    });
  }
}

TEST(StripProducts, ResultsDoNotDependOnTheInstructionsForBytes) {
  const Filled keys(StripKind::kKeys, CodeBits::k8, 96, 40, 1), values(StripKind::kValues, CodeBits::k8, 96, 40, 2);
  const std::vector<float> query = normals(96, 3), weights = normals(40, 4);
  on_every_target([&] {
    const Products expected = products(keys.strips, values.strips, query, weights);
    byte_dot_allowed = false;
    EXPECT_EQ(products(keys.strips, values.strips, query, weights), expected);
    byte_dot_allowed = true;
  });
}

TEST(StripProducts, NaNGoesOnAndZeroStaysZero) {
  Filled keys(StripKind::kKeys, CodeBits::k8, 64, 16, 1), values(StripKind::kValues, CodeBits::k8, 64, 16, 2);
  on_every_variant([&] {
    std::vector<float> query(64, 0.0f), weights(16, 0.0f), logits(16, 1.0f), out(64, 0.0f);
    strip_dots(Path::kFused, {keys.strips, 0, 16, query.data(), 1, logits.data(), 16});
    strip_sums(Path::kFused, {values.strips, 0, 16, weights.data(), 16, 1, out.data()});
    for (const float x : logits) EXPECT_EQ(x, 0);
    for (const float x : out) EXPECT_EQ(x, 0);
    query[33] = std::numeric_limits<float>::quiet_NaN();
    weights[5] = std::numeric_limits<float>::infinity();
    strip_dots(Path::kFused, {keys.strips, 0, 16, query.data(), 1, logits.data(), 16});
    strip_sums(Path::kFused, {values.strips, 0, 16, weights.data(), 16, 1, out.data()});
    for (const float x : logits) EXPECT_TRUE(std::isnan(x));
    for (const float x : out) EXPECT_TRUE(std::isnan(x));
  });
}

TEST(StripProducts, TinyNumbersCountAsZero) {
  Filled keys(StripKind::kKeys, CodeBits::k8, 32, 16, 1);
  on_every_variant([&] {
    const std::vector<float> query(32, std::numeric_limits<float>::denorm_min());
    std::vector<float> logits(16, 1.0f);
    strip_dots(Path::kFused, {keys.strips, 0, 16, query.data(), 1, logits.data(), 16});
    for (const float x : logits) EXPECT_NEAR(x, 0, 1e-30);
  });
}

}  // namespace
}  // namespace vase::kernels
