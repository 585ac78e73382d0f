// Rows of known numbers in strips, for tests.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "kernels/strips/strips.h"

namespace vase::kernels {

inline const std::vector<int> kStripWidths = {32, 64, 96, 128, 256, 1024};

inline std::vector<float> normals(size_t count, uint32_t seed, float size = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = normal(random) * size;
  return all;
}

// Strips of `slots` rows of normal numbers; what is free holds ones, which are NaN as scales.
struct Filled {
  Filled(StripKind kind, CodeBits bits, int width, int slots, uint32_t seed)
      : bytes((slots + kStripSlots - 1) / kStripSlots * strip_bytes(bits, width), std::byte{0xff}),
        strips{bytes.data(), kind, bits, width} {
    const std::vector<float> rows = normals(size_t(slots) * width, seed);
    for (int s = 0; s < slots; ++s) store_in_strips(strips, s, &rows[size_t(s) * width]);
  }

  std::vector<std::byte> bytes;
  Strips strips;
};

inline std::vector<float> read(const Strips& strips, int slot) {
  std::vector<float> row(strips.width);
  read_from_strips(strips, slot, row.data());
  return row;
}

// Every block times the Walsh-Hadamard matrix over sqrt(32), whose entry (i, j) is -1 where i and j share an odd number of bits.
inline std::vector<float> mixed_by_matrix(const std::vector<float>& row) {
  std::vector<float> out(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < kStripBlock; ++j) {
      const bool odd = std::popcount(i % kStripBlock & j) % 2 == 1;
      sum += (odd ? -1.0 : 1.0) * row[i / kStripBlock * kStripBlock + j];
    }
    out[i] = static_cast<float>(sum / std::sqrt(32.0));
  }
  return out;
}

}  // namespace vase::kernels
