// Random numbers that are the same on every machine, for what is drawn once: problems, orders of choices, resamples.
#pragma once

#include <cstdint>
#include <string_view>

namespace vase::eval {

// SplitMix64 (Steele, Lea and Flood 2014). Equal seeds, equal numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next();
  // 0 to count - 1, each as likely as the others; count >= 1.
  uint64_t below(uint64_t count);
  // low to high, both included; low <= high.
  int between(int low, int high);

 private:
  uint64_t state_;
};

// A seed out of a name, by FNV-1a.
uint64_t seed_from(std::string_view text);

// The finaliser of SplitMix64: every bit of x touches every bit of the result.
uint64_t mixed(uint64_t x);

}  // namespace vase::eval
