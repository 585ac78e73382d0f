// The constant part of keys: what is taken off and what is put back are the same, and both are what rotation makes of
// the bias.
#include "kernels/key_offset/key_offset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/on_every_target.h"

namespace vase::kernels {
namespace {

std::vector<float> frequencies(int pairs) {
  std::vector<float> all;
  for (int f = 0; f < pairs; ++f) all.push_back(std::pow(1e6f, -static_cast<float>(f) / static_cast<float>(pairs)));
  return all;
}

std::vector<float> normals(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = normal(random);
  return all;
}

TEST(KeyOffset, TakesTheLargestPairs) {
  const std::vector<float> turns = {1, 0.1f, 0.01f};
  const std::vector<float> bias = {1, 5, 0, 3,
                                   0, 0, 7, 0};  // pairs (1, 3), (5, 0), (0, 0); channels 6 and 7 do not turn
  const KeyOffset two = key_offset(bias, {.frequencies = turns}, 2);
  ASSERT_EQ(two.pairs(), 2);
  EXPECT_EQ(two.x_channel, (std::vector<int>{6, 1}));
  EXPECT_EQ(two.y_channel, (std::vector<int>{-1, 4}));
  EXPECT_EQ(key_offset(bias, {.frequencies = turns}, 99).pairs(), 3);  // not those of zeros
  EXPECT_EQ(key_offset(bias, {.frequencies = turns, .adjacent = true}, 1).x_channel, std::vector<int>{6});
}

// Up to the rounding of a turn per position to 2^-33, which the other side shares.
TEST(KeyOffset, IsTheRotatedBias) {
  const std::vector<float> turns = frequencies(16), bias = normals(40, 1);
  for (const bool adjacent : {false, true}) {
    const Rope rope{.frequencies = turns, .adjacent = adjacent, .magnitude = 1.25f};
    const KeyOffset offset = key_offset(bias, rope, 40);
    for (const int32_t position : {0, 1, 777, 100000}) {
      std::vector<float> row(40, 0.0f);
      add_key_offset(offset, position, 1, row.data());
      for (int f = 0; f < 16; ++f) {
        const int x = adjacent ? 2 * f : f, y = adjacent ? 2 * f + 1 : f + 16;
        const double angle = double(turns[f]) * position, c = std::cos(angle), s = std::sin(angle);
        EXPECT_NEAR(row[x], 1.25 * (bias[x] * c - bias[y] * s), 1e-3) << position;
        EXPECT_NEAR(row[y], 1.25 * (bias[x] * s + bias[y] * c), 1e-3) << position;
      }
      for (int channel = 32; channel < 40; ++channel) EXPECT_EQ(row[channel], bias[channel]);
      add_key_offset(offset, position, -1, row.data());
      for (const float x : row) EXPECT_NEAR(x, 0, 1e-6);
    }
  }
}

TEST(KeyOffset, LogitsAreProductsWithWhatWasTakenOff) {
  const int width = 64, heads = 5, slots = 37;
  const std::vector<float> turns = frequencies(24), queries = normals(size_t(heads) * width, 3);
  std::vector<float> bias = normals(width, 2);
  for (float& x : bias) x *= 30;
  const KeyOffset offset = key_offset(bias, {.frequencies = turns}, 9);
  std::vector<int32_t> positions;
  for (int s = 0; s < slots; ++s) positions.push_back(s * s * 997);
  const auto check = [&](Path path) {
    std::vector<float> logits(heads * 64, 2.0f);
    add_offset_logits(path, {&offset, positions.data(), slots, queries.data(), width, heads, logits.data(), 64});
    for (int h = 0; h < heads; ++h) {
      for (int s = 0; s < slots; ++s) {
        std::vector<float> row(width, 0.0f);
        add_key_offset(offset, positions[s], 1, row.data());
        double want = 2, size = 2;
        for (int c = 0; c < width; ++c) {
          want += double(queries[h * width + c]) * row[c];
          size += std::abs(double(queries[h * width + c]) * row[c]);
        }
        ASSERT_NEAR(logits[h * 64 + s], want, 2e-6 * size) << h << " " << s;
      }
    }
  };
  check(Path::kReference);
  on_every_target([&] { check(Path::kFused); });
}

}  // namespace
}  // namespace vase::kernels
