#include "kernels/row_distance/row_distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/on_every_target.h"
#include "kernels/stored_rows.h"

namespace vase::kernels {
namespace {

TEST(RowDistance, HandComputed) {
  std::vector<float> rows(3 * 16);
  rows[0] = 3, rows[1] = 4, rows[16] = 1, rows[32] = std::numeric_limits<float>::quiet_NaN();
  const RowsView view{rows.data(), 64, RowType::kF32, 2, nullptr};
  const std::vector<float> weights = {0.5f, 2, 0};
  on_every_target([&] {
    std::vector<float> sum(16, 7.0f), distance(2);
    weighted_row_sum(Path::kFused, view, weights, sum);  // (3.5, 2); the third row has no weight
    EXPECT_EQ(sum[0], 3.5f);
    EXPECT_EQ(sum[1], 2.0f);
    EXPECT_EQ(sum[2], 0.0f);
    sum[0] = 0, sum[1] = 0;
    row_distance(Path::kFused, view, sum, distance);
    EXPECT_EQ(distance, (std::vector<float>{5, 1}));
    sum[0] = 3;
    row_distance(Path::kFused, view, sum, distance);
    EXPECT_EQ(distance, (std::vector<float>{4, 2}));
  });
}

TEST(RowDistance, FusedEqualsReference) {
  for (int width : {20, 64, 128}) {
    for (RowType type : kRowTypes) {
      const int n = 133;
      const StoredRows rows(type, width, n);
      std::vector<float> weights(n), point(padded_row(width)), sum(point.size()), far(n), distance(n);
      for (int i = 0; i < n; ++i) weights[i] = 0.01f * static_cast<float>(i - 20);
      weighted_row_sum(Path::kReference, rows.view, weights, point);
      row_distance(Path::kReference, rows.view, point, far);
      on_every_target([&] {
        weighted_row_sum(Path::kFused, rows.view, weights, sum);
        for (size_t c = 0; c < sum.size(); ++c) ASSERT_NEAR(sum[c], point[c], 1e-4) << c;
        row_distance(Path::kFused, rows.view, point, distance);
        for (int i = 0; i < n; ++i) ASSERT_NEAR(distance[i], far[i], 1e-5 * far[i]) << i;
      });
    }
  }
}

}  // namespace
}  // namespace vase::kernels
