// Rows against ggml's own, and every way of reading them against each other.
#include <ggml.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/store_row.h"
#include "kernels/row_element.h"

namespace vase::kernels {
namespace {

// Sizes from subnormal numbers to beyond half precision's, and halves between two steps.
std::vector<float> some_row(int width, int index) {
  std::mt19937 random(index);
  std::normal_distribution<float> normal;
  std::vector<float> row(width);
  const float size = std::ldexp(1.0f, index % 30 - 18);
  for (float& x : row) x = normal(random) * size;
  for (int c = 0; c < width && index % 3 == 0; ++c) row[c] = size * (static_cast<float>(c % 32 * 4 - 62) + 0.5f);
  if (index % 3 == 0) row[5] = 127 * size;
  return row;
}

TEST(GgmlRows, HalvesAreThoseOfGgml) {
  for (int index = 0; index < 90; ++index) {
    const std::vector<float> row = some_row(64, index);
    for (const auto& [type, theirs] : {std::pair{RowType::kF16, GGML_TYPE_F16}, {RowType::kBF16, GGML_TYPE_BF16}}) {
      std::vector<std::byte> a(128), b(128);
      store_row(type, row.data(), 64, a.data());
      ggml_quantize_chunk(theirs, row.data(), b.data(), 0, 1, 64, nullptr);
      EXPECT_EQ(a, b) << row_type_name(type) << ", row " << index;
    }
  }
}

TEST(GgmlRows, AnElementIsThatOfItsRow) {
  const std::vector<float> row = some_row(64, 20);
  std::vector<float> read(64);
  for (const RowType type : kRowTypes) {
    std::vector<std::byte> bytes(row_bytes(type, 64));
    store_row(type, row.data(), 64, bytes.data());
    const RowsView view{bytes.data(), bytes.size(), type, 64, nullptr};
    read_row(view, 0, read.data());
    for (int c = 0; c < 64; ++c) EXPECT_EQ(row_element(view, 0, c), read[c]);
  }
}

}  // namespace
}  // namespace vase::kernels
