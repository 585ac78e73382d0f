// Hashes that name settings and derive seeds: the same on every machine and in every build. Not for secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fnv.h"

namespace vase::eval {

// 64 bits out of a text and a number: FNV-1a, then the finaliser of splitmix64. The text may come in pieces.
class TextHash {
 public:
  explicit TextHash(uint64_t start = 0);
  void add(std::string_view piece) { bytes_.add(piece); }
  uint64_t value() const;

 private:
  Fnv bytes_;
};
uint64_t hash_text(std::string_view text, uint64_t start = 0);

// 16 hex digits.
std::string hex_digits(uint64_t value);

// The seed of one generation, out of the seed of the run, what it is for ("text", "evictions") and which
// generation it is. So it does not depend on the order of the generations, on what runs beside them, or on
// which of them are already there.
uint64_t derived_seed(uint64_t base, const std::string& purpose, const std::string& task,
                      const std::string& problem, int sample);

}  // namespace vase::eval
