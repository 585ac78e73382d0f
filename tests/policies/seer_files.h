// Gate files of SeerAttention-R with random weights.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "vase/policy.h"

namespace vase::test {

struct SeerFile {
  ModelHeads heads{.layers = 2, .kv_heads = 2, .group = 2, .head_dim = 8};
  uint32_t version = 1;
  int block = 4, width = 6;
  float rope_base = 10000;
  uint64_t seed = 1;

  size_t weights() const {
    return size_t(heads.layers) * heads.kv_heads * width * heads.head_dim * (3 + heads.group);
  }

  std::string bytes() const {
    std::string out = "VASESEER";
    const auto add = [&](auto value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const int n : {heads.layers, heads.kv_heads, heads.group, heads.head_dim, block, width}) {
      if (out.size() == 8) add(version);
      add(static_cast<uint32_t>(n));
    }
    add(rope_base);
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0, 0.4f);
    for (size_t i = 0; i < weights(); ++i) add(normal(random));
    return out;
  }
};

// In the test's temporary folder; `name` must differ between tests that run at the same time.
inline std::string write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace vase::test
