// FNV-1a, 64 bits: a number out of bytes, the same on every machine. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vase {

// Bytes may come in pieces of any size: the value depends on what they make together.
class Fnv {
 public:
  static constexpr uint64_t kBasis = 0xcbf29ce484222325u;

  constexpr explicit Fnv(uint64_t basis = kBasis) : value_(basis) {}

  constexpr void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
  }
  constexpr void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) step(static_cast<unsigned char>(b));
  }
  constexpr uint64_t value() const { return value_; }

 private:
  constexpr void step(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }

  uint64_t value_;
};

}  // namespace vase
