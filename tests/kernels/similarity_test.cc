// Linear forms against the quadratic definitions.
#include "kernels/similarity/similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/on_every_target.h"
#include "kernels/query_scores/query_scores.h"
#include "kernels/row_element.h"
#include "kernels/stored_rows.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

// S_ij of the definition, one pair at a time.
double similarity(const RowsView& keys, size_t i, size_t j) {
  if (i == j) return 0;
  double dot = 0, a = 0, b = 0;
  for (int c = 0; c < keys.width; ++c) {
    const double x = row_element(keys, i, c), y = row_element(keys, j, c);
    dot += x * y, a += x * x, b += y * y;
  }
  return dot / ((std::sqrt(a) + 1e-8) * (std::sqrt(b) + 1e-8));
}

struct Found {
  std::vector<float> inverse, mean;
  std::vector<double> duplicate;
};

Found run(Path path, const RowsView& keys, const std::vector<uint32_t>& order, float threshold) {
  const size_t count = order.size();
  Found found{std::vector<float>(count), std::vector<float>(results_row(count)), std::vector<double>(count)};
  std::vector<float> sum(padded_row(keys.width)), partial(sum.size());
  inverse_norms(path, keys, found.inverse);
  direction_sum(path, keys, found.inverse, partial, sum);
  row_dots(path, sum, 1, keys, static_cast<int>(count), found.mean.data(), found.mean.size());
  newest_similar(path, keys, order, found.inverse, threshold, found.duplicate);
  return found;
}

TEST(Similarity, HandComputed) {
  // Directions (1, 0), (0.6, 0.8), (0, 1); sum (1.6, 1.8). Row 0 is like row 1 (0.6), row 1 like row 2 (0.8), row 2
  // like row 1.
  const std::vector<float> rows = {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                   3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                   0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const RowsView keys{rows.data(), 64, RowType::kF32, 2, nullptr};
  const auto check = [&](Path path) {
    const Found found = run(path, keys, {0, 1, 2}, 0.5f);
    EXPECT_FLOAT_EQ(found.inverse[0], 0.5f);
    EXPECT_FLOAT_EQ(found.inverse[1], 0.2f);
    EXPECT_FLOAT_EQ(found.mean[0], 2 * 1.6f);
    EXPECT_FLOAT_EQ(found.mean[1], 3 * 1.6f + 4 * 1.8f);
    EXPECT_NEAR(found.duplicate[0], 0, 1e-6);
    EXPECT_NEAR(found.duplicate[1], 0.6 + 0.8, 1e-6);
    EXPECT_NEAR(found.duplicate[2], 0.8, 1e-6);
    // By age 2, 1, 0 the newest row that is like row 1 is row 0.
    EXPECT_NEAR(run(path, keys, {2, 1, 0}, 0.5f).duplicate[0], 0.6, 1e-6);
    EXPECT_EQ(run(path, keys, {0, 1, 2}, 0.9f).duplicate, std::vector<double>(3));
  };
  check(Path::kReference);
  on_every_target([&] { check(Path::kFused); });
}

TEST(Similarity, SumsEqualTheMatrix) {
  for (int width : {1, 20, 64, 80, 128, 256}) {
    for (int count : {1, 3, 64, 131}) {
      const StoredRows rows(test::row_type(width + count), width, count);
      std::vector<double> want(count);
      for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) want[j] += similarity(rows.view, i, j);
      }
      std::vector<uint32_t> order(count);
      std::iota(order.begin(), order.end(), 0u);
      on_every_target([&] {
        const Found found = run(Path::kFused, rows.view, order, 2);
        for (int j = 0; j < count; ++j) {
          const double own = similarity(rows.view, j, j) + 1;  // |k^_j|^2, but for the 1e-8
          ASSERT_NEAR((found.mean[j] * found.inverse[j] - own) / count, want[j] / count, 1e-6) << width << " " << j;
        }
      });
    }
  }
}

// A threshold that about one row in ten passes: early and late hits, and rows without any.
TEST(Similarity, NewestSimilarEqualsTheScan) {
  for (int width : {1, 20, 64, 128}) {
    for (int count : {1, 2, 5, 131}) {
      const StoredRows rows(test::row_type(count), width, count);
      std::vector<uint32_t> order(count);
      for (int i = 0; i < count; ++i) order[i] = (i * 58 + 7) % 131 % count;
      std::sort(order.begin(), order.end());
      order.erase(std::unique(order.begin(), order.end()), order.end());
      std::reverse(order.begin(), order.end());
      const float threshold = 1.3f / std::sqrt(static_cast<float>(width));
      std::vector<double> want(count);
      for (uint32_t i : order) {
        for (size_t at = order.size(); at-- > 0;) {
          if (!(similarity(rows.view, i, order[at]) > threshold)) continue;
          want[order[at]] += similarity(rows.view, i, order[at]);
          break;
        }
      }
      std::vector<float> inverse(count);
      inverse_norms(Path::kReference, rows.view, inverse);
      const auto check = [&](Path path) {
        std::vector<double> got(count);
        newest_similar(path, rows.view, order, inverse, threshold, got);
        for (int j = 0; j < count; ++j) ASSERT_NEAR(got[j], want[j], 1e-5) << width << " " << count << " " << j;
      };
      check(Path::kReference);
      on_every_target([&] { check(Path::kFused); });
    }
  }
}

TEST(Similarity, ZeroAndNanRowsAreLikeNothing) {
  std::vector<float> rows(4 * 16);
  rows[0] = rows[16] = 1;
  rows[32] = NAN;
  const RowsView keys{rows.data(), 64, RowType::kF32, 16, nullptr};
  for (Path path : {Path::kReference, Path::kFused}) {
    std::vector<float> inverse(4);
    std::vector<double> duplicate(4);
    inverse_norms(path, keys, inverse);
    const std::vector<uint32_t> order = {0, 1, 2, 3};
    newest_similar(path, keys, order, inverse, 0.5f, duplicate);
    EXPECT_EQ(duplicate, (std::vector<double>{1, 1, 0, 0}));
  }
}

}  // namespace
}  // namespace vase::kernels
