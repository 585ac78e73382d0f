// Numbers for benchmarks whose time does not depend on what the numbers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace vase::bench {

// Standard normal, the same for the same seed.
inline std::vector<float> normals(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = normal(random);
  return all;
}

}  // namespace vase::bench
