// Tokens whose rows tell their position, for tests of the cache.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "cache/slot_cache.h"

namespace vase {

inline constexpr int kWidest = 32;  // channels of a row

// Row of the token at a position, the longest; distinct per channel and exactly representable in f16.
inline std::vector<float> row_of(int32_t position, float offset) {
  std::vector<float> row(kWidest);
  for (int c = 0; c < kWidest; ++c) row[c] = static_cast<float>(position % 64) + offset + static_cast<float>(c % 8) / 8;
  return row;
}

// |k| |v| of what append_token() appends, of the first `width` channels.
inline double norm_product_of(int32_t position, int width) {
  double key = 0, value = 0;
  for (int c = 0; c < width; ++c) {
    key += std::pow(row_of(position, 0.25f)[c], 2.0);
    value += std::pow(row_of(position, 0.5f)[c], 2.0);
  }
  return std::sqrt(key * value);
}

inline void append_token(HeadSlots head, int32_t position) {
  head.append(position, row_of(position, 0.25f).data(), row_of(position, 0.5f).data());
}

}  // namespace vase
