#include "kernels/query_scores/query_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/on_every_target.h"
#include "kernels/stored_rows.h"
#include "support/row_types.h"

namespace vase::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> padded_normals(int count, int width, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(size_t(count) * padded_row(width));
  for (int v = 0; v < count; ++v) {
    for (int i = 0; i < width; ++i) all[size_t(v) * padded_row(width) + i] = normal(random);
  }
  return all;
}

TEST(RowDots, FusedEqualsReference) {
  for (int width : {20, 64, 80, 128}) {
    for (int count : {1, 2, 3, 4, 5, 7, 11, 32}) {
      for (int n : {1, 3, 4, 33}) {
        const StoredRows rows(test::row_type(count + n), width, n);
        const std::vector<float> vectors = padded_normals(count, width, n);
        const size_t stride = results_row(n);
        std::vector<float> expected(count * stride), actual(count * stride);
        row_dots(Path::kReference, vectors, count, rows.view, n, expected.data(), stride);
        on_every_target([&] {
          row_dots(Path::kFused, vectors, count, rows.view, n, actual.data(), stride);
          for (int v = 0; v < count; ++v) {
            for (int i = 0; i < n; ++i) {
              ASSERT_NEAR(actual[v * stride + i], expected[v * stride + i], 2e-6 * width)
                  << width << " " << v << " " << i;
            }
          }
        });
      }
    }
  }
}

TEST(RowDots, OfTheRowsBehindAPlace) {
  const StoredRows rows(RowType::kF16, 32, 9);
  const std::vector<float> vector = padded_normals(1, 32, 5);
  std::vector<float> all(16), rest(16);
  row_dots(Path::kFused, vector, 1, rows.view, 9, all.data(), 16);
  row_dots(Path::kFused, vector, 1, rows_from(rows.view, 4), 5, rest.data(), 16);
  RowsView plain = rows.view;  // by place in memory
  plain.slots = nullptr;
  std::vector<float> by_place(16);
  row_dots(Path::kFused, vector, 1, rows_from(plain, 4), 5, by_place.data(), 16);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(rest[i], all[4 + i]);
    EXPECT_EQ(by_place[i], all[4 - i]);  // the index reads in reverse
  }
}

TEST(PairMagnitudes, HandComputedAndEqualToReference) {
  std::vector<float> row(16);
  row[0] = 3, row[1] = 5, row[2] = 4, row[3] = 12;
  const RowsView view{row.data(), 64, RowType::kF32, 4, nullptr};
  std::vector<float> out(16);
  on_every_target([&] {
    pair_magnitudes(Path::kFused, view, 1, 2, false, out.data());  // (3, 4), (5, 12)
    EXPECT_EQ(out[0], 5);
    EXPECT_EQ(out[1], 13);
    pair_magnitudes(Path::kFused, view, 1, 2, true, out.data());  // (3, 5), (4, 12)
    EXPECT_FLOAT_EQ(out[0], std::sqrt(34.0f));
    EXPECT_FLOAT_EQ(out[1], std::sqrt(160.0f));
  });
  for (int width : {20, 64, 96, 128}) {
    for (bool adjacent : {false, true}) {
      for (int i = 0; i < 16; ++i) {
        const int pairs = i % 4 == 3 ? 12 : width >> (1 + i % 4 % 2);  // 12 pairs end within a block
        const StoredRows rows(test::row_type(i / 4), width, 7);
        std::vector<float> expected(7 * padded_row(pairs)), actual(expected.size(), kNan);
        pair_magnitudes(Path::kReference, rows.view, 7, pairs, adjacent, expected.data());
        on_every_target([&] {
          pair_magnitudes(Path::kFused, rows.view, 7, pairs, adjacent, actual.data());
          for (size_t f = 0; f < actual.size(); ++f) ASSERT_NEAR(actual[f], expected[f], 1e-6 * expected[f]) << f;
        });
      }
    }
  }
}

// Shares of one row of logits, on every target and by the reference.
void expect_shares(std::vector<float> logits, size_t shares, const std::vector<float>& want) {
  const auto check = [&](Path path) {
    std::vector<float> copy = logits, sum(shares, 1.0f);
    copy.resize(results_row(copy.size()));
    add_softmax(path, std::span(copy).first(logits.size()), sum);
    for (size_t j = 0; j < shares; ++j) {
      ASSERT_TRUE(std::isnan(want[j]) ? std::isnan(sum[j]) : std::abs(sum[j] - 1 - want[j]) < 3e-7)
          << j << " " << sum[j];
    }
  };
  check(Path::kReference);
  on_every_target([&] { check(Path::kFused); });
}

TEST(AddSoftmax, HandComputed) {
  const float two = std::log(2.0f), five = std::log(5.0f);
  expect_shares({0, two, five}, 3, {0.125f, 0.25f, 0.625f});
  expect_shares({0, two, five}, 2, {0.125f, 0.25f});  // normalised over all three
  expect_shares({90000, 90000}, 2, {0.5f, 0.5f});
  expect_shares({0, -kInf, 0}, 3, {0.5f, 0, 0.5f});
}

TEST(AddSoftmax, WhatIsNotFiniteSpoilsOnlyItself) {
  expect_shares({0, kNan, 0, kInf}, 4, {0.5f, kNan, 0.5f, kNan});
  expect_shares({kNan, -kInf}, 2, {kNan, 0});
  expect_shares({kNan, kNan}, 1, {kNan});
  expect_shares({-kInf, -kInf}, 2, {0, 0});
}

TEST(AddSoftmax, FusedEqualsReference) {
  for (int n : {1, 15, 16, 17, 100, 1000}) {
    std::mt19937 random(n);
    std::normal_distribution<float> normal(0, 4);
    std::vector<float> logits(results_row(n)), expected(n), actual(n);
    for (float& x : logits) x = normal(random);
    std::vector<float> copy = logits;
    add_softmax(Path::kReference, std::span(copy).first(n), expected);
    on_every_target([&] {
      copy = logits;
      std::fill(actual.begin(), actual.end(), 0.0f);
      add_softmax(Path::kFused, std::span(copy).first(n), actual);
      for (int j = 0; j < n; ++j) ASSERT_NEAR(actual[j], expected[j], 3e-6 * expected[j] + 1e-30);
    });
  }
}

}  // namespace
}  // namespace vase::kernels
