// Rows into strips and back, one number at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "kernels/strips/mixing.h"
#include "kernels/strips/strips.h"

namespace vase::kernels {
namespace {

using Codes = std::array<uint8_t, kStripBlock>;

struct Block {
  Codes codes;
  float scale;
};

// To the nearest whole number, halves away from zero.
int rounded(float x) {
  const int whole = static_cast<int>(x);
  const float rest = x - static_cast<float>(whole);
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

// A scale whose inverse overflows is 0 in half precision, and so are the numbers.
float inverse_of(float scale) {
  return std::fabs(scale) > 4 * std::numeric_limits<float>::min() ? 1 / scale : 0;
}

Block eight_bits(const float* in) {
  float largest = 0;
  for (int i = 0; i < kStripBlock; ++i) largest = std::max(largest, std::fabs(in[i]));
  Block block{.codes = {}, .scale = largest / 127};
  const float inverse = inverse_of(block.scale);
  for (int i = 0; i < kStripBlock; ++i) block.codes[i] = static_cast<uint8_t>(rounded(in[i] * inverse) + 128);
  return block;
}

// Codes of x / scale, and how well they fit.
struct FourBits {
  float inverse = 0;
  float products = 0, squares = 0;  // sum x n, sum n^2 over the numbers n of the codes

  FourBits() = default;
  FourBits(const float* x, float inverse_scale) : inverse(inverse_scale) {
    for (int i = 0; i < kStripBlock; ++i) {
      const auto n = static_cast<float>(code(x[i]) - code_offset(CodeBits::k4));
      products += x[i] * n;
      squares += n * n;
    }
  }
  int code(float x) const { return std::clamp(static_cast<int>(x * inverse + 8.5f), 0, 15); }
  // The scale that fits these codes best, and by how much it lowers the sum of squares from that of x.
  float scale() const { return squares > 0 ? products / squares : 0; }
  float gain() const { return products * scale(); }
};

// What becomes of the largest magnitude is tried; the scale has the other sign. 8 alone is ggml's q4_0, whose squared error
// is some 12 % larger.
constexpr float kLargestNumbers[] = {8, 7, 7.33f, 7.67f, 8.33f, 8.67f, 9};

Block four_bits(const float* in) {
  float largest = 0;
  for (int i = 0; i < kStripBlock; ++i) {
    if (std::fabs(in[i]) > std::fabs(largest)) largest = in[i];
  }
  FourBits best;
  for (const float number : kLargestNumbers) {
    const FourBits other(in, inverse_of(largest / -number));
    if (other.gain() > best.gain()) best = other;
  }
  Block block{.codes = {}, .scale = best.scale()};
  for (int i = 0; i < kStripBlock; ++i) block.codes[i] = static_cast<uint8_t>(best.code(in[i]));
  return block;
}

Block quantized(CodeBits bits, const float* in) {
  float x[kStripBlock];
  std::copy_n(in, kStripBlock, x);
  if (is_mixed(bits)) mix_block(x);
  float poison = 0;
  for (const float one : x) poison += one * 0;  // NaN once a number is not finite
  if (poison != 0 || std::isnan(poison)) return {.codes = {}, .scale = std::numeric_limits<float>::quiet_NaN()};
  return bits == CodeBits::k8 ? eight_bits(x) : four_bits(x);
}

uint8_t code_at(const std::byte* strip, CodeBits bits, CodePlace place) {
  const auto byte = static_cast<uint8_t>(strip[place.byte]);
  if (bits == CodeBits::k8) return byte;
  return place.upper ? byte >> 4 : byte & 15;
}

void set_code(std::byte* strip, CodeBits bits, CodePlace place, uint8_t code) {
  const auto byte = static_cast<uint8_t>(strip[place.byte]);
  const auto whole = [&] {
    if (bits == CodeBits::k8) return int{code};
    return place.upper ? (byte & 15) | code << 4 : (byte & 0xf0) | code;
  };
  strip[place.byte] = static_cast<std::byte>(whole());
}

uint16_t scale_at(const Strips& strips, const std::byte* strip, int slot, int block) {
  uint16_t scale;
  std::memcpy(&scale, strip + scale_place(strips.bits, strips.width, slot, block), sizeof scale);
  return scale;
}

void set_scale(const Strips& strips, std::byte* strip, int slot, int block, uint16_t scale) {
  std::memcpy(strip + scale_place(strips.bits, strips.width, slot, block), &scale, sizeof scale);
}

}  // namespace

void mix_block(float* x) {
  for (int half = kStripBlock / 2; half > 0; half /= 2) {
    for (int i = 0; i < kStripBlock; i += 2 * half) {
      for (int j = i; j < i + half; ++j) {
        const float a = x[j], b = x[j + half];
        x[j] = a + b;
        x[j + half] = a - b;
      }
    }
  }
  for (int i = 0; i < kStripBlock; ++i) x[i] *= kMixingScale;
}

void store_in_strips(const Strips& strips, int slot, const float* row) {
  std::byte* const strip = strips.strip(slot / kStripSlots);
  const int inside = slot % kStripSlots;
  for (int b = 0; b < strips.width / kStripBlock; ++b) {
    const Block block = quantized(strips.bits, row + b * kStripBlock);
    for (int i = 0; i < kStripBlock; ++i) {
      set_code(strip, strips.bits, code_place(strips.kind, strips.bits, inside, b * kStripBlock + i), block.codes[i]);
    }
    set_scale(strips, strip, inside, b, to_half(block.scale));
  }
}

void read_from_strips(const Strips& strips, int slot, float* out) {
  const std::byte* const strip = strips.strip(slot / kStripSlots);
  const int inside = slot % kStripSlots;
  for (int c = 0; c < strips.width; ++c) {
    const int number = code_at(strip, strips.bits, code_place(strips.kind, strips.bits, inside, c)) - code_offset(strips.bits);
    out[c] = static_cast<float>(number) * from_half(scale_at(strips, strip, inside, c / kStripBlock));
  }
  if (!is_mixed(strips.bits)) return;
  for (int c = 0; c < strips.width; c += kStripBlock) mix_block(out + c);
}

void poison_in_strips(const Strips& strips, int slot) {
  std::byte* const strip = strips.strip(slot / kStripSlots);
  for (int b = 0; b < strips.width / kStripBlock; ++b) set_scale(strips, strip, slot % kStripSlots, b, 0xffff);
}

void move_in_strips(const Strips& strips, int from, int to) {
  const std::byte* const source = strips.strip(from / kStripSlots);
  std::byte* const target = strips.strip(to / kStripSlots);
  const int old_slot = from % kStripSlots, new_slot = to % kStripSlots;
  for (int c = 0; c < strips.width; ++c) {
    set_code(target, strips.bits, code_place(strips.kind, strips.bits, new_slot, c),
             code_at(source, strips.bits, code_place(strips.kind, strips.bits, old_slot, c)));
  }
  for (int b = 0; b < strips.width / kStripBlock; ++b) {
    set_scale(strips, target, new_slot, b, scale_at(strips, source, old_slot, b));
  }
}

}  // namespace vase::kernels
