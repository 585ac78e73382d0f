#include "kernels/channel_spread/channel_spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/on_every_target.h"
#include "kernels/stored_rows.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

struct Spreads {
  std::vector<float> low, scale, spread;
};

Spreads run(Path path, const RowsView& rows, const std::vector<uint32_t>& range, const std::vector<uint32_t>& which) {
  const size_t width = padded_row(rows.width);
  Spreads s{std::vector<float>(width, 7), std::vector<float>(width, 7), std::vector<float>(which.size())};
  channel_scaling(path, rows, range, s.low, s.scale);
  channel_spread(path, rows, which, s.low, s.scale, s.spread);
  return s;
}

TEST(ChannelSpread, HandComputed) {
  // Rows 1 and 2 span (0, 0, 5) to (2, 4, 5). Row 0 = (1, 4, 6) becomes (0.5, 1, 0): mean 0.5, squares 0.5, over 2.
  std::vector<float> rows(3 * 16);
  for (auto [at, x] : {std::pair(0, 1.0f), {1, 4.0f}, {2, 6.0f}, {18, 5.0f}, {32, 2.0f}, {33, 4.0f}, {34, 5.0f}}) {
    rows[at] = x;
  }
  const RowsView view{rows.data(), 64, RowType::kF32, 3, nullptr};
  const auto check = [&](Path path) {
    const Spreads s = run(path, view, {1, 2}, {0});
    EXPECT_EQ(std::vector<float>(s.low.begin(), s.low.begin() + 4), (std::vector<float>{0, 0, 5, 0}));
    EXPECT_EQ(std::vector<float>(s.scale.begin(), s.scale.begin() + 4), (std::vector<float>{0.5f, 0.25f, 0, 0}));
    EXPECT_FLOAT_EQ(s.spread[0], 0.5f);
  };
  check(Path::kReference);
  on_every_target([&] { check(Path::kFused); });
}

TEST(ChannelSpread, FusedEqualsReference) {
  for (int width : {1, 2, 20, 64, 80, 96, 100, 128, 256}) {
    const StoredRows rows(test::row_type(width / 2), width, 40);
    const std::vector<uint32_t> range = {3, 39, 8, 21, 5}, which = {0, 7, 3, 38, 12, 12};
    const Spreads want = run(Path::kReference, rows.view, range, which);
    on_every_target([&] {
      const Spreads got = run(Path::kFused, rows.view, range, which);
      EXPECT_EQ(got.low, want.low);
      for (size_t c = 0; c < got.scale.size(); ++c) ASSERT_NEAR(got.scale[c], want.scale[c], 1e-6 * want.scale[c]);
      for (size_t i = 0; i < which.size(); ++i) ASSERT_NEAR(got.spread[i], want.spread[i], 1e-5 * want.spread[i]);
    });
  }
}

}  // namespace
}  // namespace vase::kernels
