// Rows as the cache stores them, for tests of kernels.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/store_row.h"
#include "vase/rows.h"

namespace vase::kernels {

// Normal numbers in rows with a zero tail, as the cache stores them, read in reverse through an index.
struct StoredRows {
  StoredRows(RowType type, int width, int count)
      : bytes(count * row_bytes(type, width)) {
    std::mt19937 random(width);
    std::normal_distribution<float> normal;
    std::vector<float> row(width);
    for (int r = 0; r < count; ++r) {
      index.push_back(count - 1 - r);
      for (float& x : row) x = normal(random);
      store_row(type, row.data(), width, bytes.data() + r * row_bytes(type, width));
    }
    view = {bytes.data(), row_bytes(type, width), type, width, index.data()};
  }

  std::vector<std::byte> bytes;
  std::vector<uint32_t> index;
  RowsView view;
};

}  // namespace vase::kernels
