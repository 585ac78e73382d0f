#include "kernels/leverage/leverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "kernels/on_every_target.h"
#include "kernels/stored_rows.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

// What lies behind G may be anything.
std::vector<float> with_tail(std::vector<float> gaussian) {
  gaussian.resize(gaussian.size() + kSketchTail, std::numeric_limits<float>::quiet_NaN());
  return gaussian;
}

TEST(Leverage, HandComputed) {
  const std::vector<float> row = {1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<float> gaussian = with_tail({1, 0, -1, 3, 1, 0});  // [2][3]: row^T G = (7, 2, -1)
  const RowsView view{row.data(), 64, RowType::kF32, 2, nullptr};
  float energy = 0;
  sketched_energy(Path::kReference, view, gaussian, 3, {&energy, 1});
  EXPECT_EQ(energy, 54);
  on_every_target([&] {
    sketched_energy(Path::kFused, view, gaussian, 3, {&energy, 1});
    EXPECT_EQ(energy, 54);
    row_energy(view, {&energy, 1});
    EXPECT_EQ(energy, 5);
  });
}

TEST(Leverage, FusedEqualsReference) {
  for (int width : {32, 64, 80, 100, 128, 256}) {
    for (int columns : {1, 7, 16, 20, 33, 64}) {
      for (int count : {1, 2, 5, 131}) {
        const StoredRows rows(test::row_type(columns + count), width, count);
        std::mt19937 random(columns);
        std::normal_distribution<float> normal;
        std::vector<float> gaussian(width * columns);
        for (float& g : gaussian) g = normal(random);
        gaussian = with_tail(gaussian);
        std::vector<float> expected(count), actual(count);
        sketched_energy(Path::kReference, rows.view, gaussian, columns, expected);
        on_every_target([&] {
          sketched_energy(Path::kFused, rows.view, gaussian, columns, actual);
          for (int i = 0; i < count; ++i) {
            // A column's dot product may cancel to nearly 0, so the typical energy of a row counts too.
            ASSERT_NEAR(actual[i], expected[i], 2e-6 * (expected[i] + width * columns))
                << width << " x " << columns << ", row " << i;
          }
        });
      }
    }
  }
}

// Several sketches at once are those sketches one by one.
TEST(Leverage, SketchesTogetherEqualSketchesApart) {
  const int width = 80, count = 131;
  const StoredRows rows(RowType::kF16, width, count);
  for (int columns : {0, 1, 3, 8, 16, 21, 64}) {
    const int groups = std::min(sketches_at_once(columns), 7), all = groups * columns;
    std::mt19937 random(columns);
    std::normal_distribution<float> normal;
    std::vector<float> together(width * all);
    for (float& g : together) g = normal(random);
    std::vector<float> expected(groups * count), actual(groups * (count + 5));
    for (int g = 0; g < groups; ++g) {
      std::vector<float> apart;
      for (int k = 0; k < width; ++k) {
        apart.insert(apart.end(), together.begin() + k * all + g * columns,
                     together.begin() + k * all + (g + 1) * columns);
      }
      sketched_energy(Path::kReference, rows.view, apart, columns, std::span(expected).subspan(g * count, count));
    }
    const std::vector<float> gaussian = with_tail(together);
    for (Path path : {Path::kReference, Path::kFused}) {
      on_every_target([&] {
        sketched_energies(path, rows.view, gaussian, groups, columns, actual.data(), count, count + 5);
        std::vector<float> ignored(count);
        row_energy(rows.view, ignored);  // for the reference, which notes no target
        for (int g = 0; g < groups; ++g) {
          for (int i = 0; i < count; ++i) {
            const float want = expected[g * count + i];
            ASSERT_NEAR(actual[g * (count + 5) + i], want, 2e-6 * (want + width * columns))
                << columns << ", sketch " << g;
          }
        }
      });
    }
  }
}

// Every bit pattern of half precision, subnormals, infinities and NaN included, on every target.
TEST(Leverage, EveryHalfIsReadExactly) {
  constexpr int kHalves = 1 << 16;
  std::vector<uint16_t> bits(size_t(kHalves) * padded_row(1));
  for (int i = 0; i < kHalves; ++i) bits[size_t(i) * padded_row(1)] = static_cast<uint16_t>(i);
  const RowsView view{bits.data(), padded_row(1) * sizeof(uint16_t), RowType::kF16, 1, nullptr};
  std::vector<float> energy(kHalves);
  on_every_target([&] {
    row_energy(view, energy);
    for (int i = 0; i < kHalves; ++i) {
      const float x = from_half(static_cast<uint16_t>(i));
      ASSERT_TRUE(std::isnan(x) ? std::isnan(energy[i]) : energy[i] == x * x) << std::hex << i;
    }
  });
}

// The identity as G has one column per channel, so the sketch keeps all energy.
TEST(Leverage, IdentitySketchIsTheRowEnergy) {
  const StoredRows rows(RowType::kF16, 64, 37);
  std::vector<float> identity(64 * 64), sketched(37), exact(37);
  for (int i = 0; i < 64; ++i) identity[i * 64 + i] = 1;
  on_every_target([&] {
    sketched_energy(Path::kFused, rows.view, with_tail(identity), 64, sketched);
    row_energy(rows.view, exact);
    for (int i = 0; i < 37; ++i) ASSERT_NEAR(sketched[i], exact[i], 1e-5 * exact[i]);
  });
}

}  // namespace
}  // namespace vase::kernels
