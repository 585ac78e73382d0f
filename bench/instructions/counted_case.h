// The calls whose instructions are counted. Names are stable: they are the keys of baseline.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace vase::bench {

struct CountedCase {
  std::string name;
  // Makes the inputs, always the same, and returns the call. It is made twice, and the second time is
  // counted.
  std::function<std::function<void()>()> prepare;
};

std::vector<CountedCase> attention_cases();  // slot attention
std::vector<CountedCase> product_cases();    // products of quantised weights
std::vector<CountedCase> eviction_cases();   // evictions, their parts, and compaction

// Evenly spread over [-1, 1).
inline std::vector<float> made_up_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> all(count);
  for (float& x : all) x = static_cast<float>(random()) * 0x1p-31f - 1;
  return all;
}

}  // namespace vase::bench
