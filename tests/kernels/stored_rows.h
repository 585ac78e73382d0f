// Rows as the cache stores them, for tests of kernels.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/half.h"
#include "vase/rows.h"

namespace vase::kernels {

// Normal numbers in rows with a zero tail, as the cache stores them, read in reverse through an index.
struct StoredRows {
  StoredRows(RowType type, int width, int count)
      : bytes(size_t(count) * padded_row(width) * row_element_bytes(type)) {
    std::mt19937 random(width);
    std::normal_distribution<float> normal;
    for (int r = 0; r < count; ++r) {
      index.push_back(count - 1 - r);
      for (int i = 0; i < width; ++i) {
        const size_t at = size_t(r) * padded_row(width) + i;
        const float x = normal(random);
        if (type == RowType::kF32) {
          reinterpret_cast<float*>(bytes.data())[at] = x;
        } else {
          reinterpret_cast<uint16_t*>(bytes.data())[at] = to_half(x);
        }
      }
    }
    view = {bytes.data(), padded_row(width) * row_element_bytes(type), type, width, index.data()};
  }

  std::vector<std::byte> bytes;
  std::vector<uint32_t> index;
  RowsView view;
};

}  // namespace vase::kernels
