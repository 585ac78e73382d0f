#include "policies/rope_turns.h"

#include <cmath>

namespace vase {

std::complex<double> turn_at(const Rope& rope, int f, int64_t position) {
  return std::polar(1.0, static_cast<double>(position) * rope.frequencies[f]);
}

// The sum of a geometric series: sin(N w / 2) / sin(w / 2) at the angle of the middle position. Multiples of a full
// turn, 0 among them, leave every term equal.
std::complex<double> mean_turn(const Rope& rope, int f, int64_t from, int64_t count) {
  const double w = rope.frequencies[f], n = static_cast<double>(count);
  const double below = n * std::sin(w / 2);
  if (std::abs(below) < 1e-12) return turn_at(rope, f, from);
  return std::sin(n * w / 2) / below * std::polar(1.0, (static_cast<double>(from) + (n - 1) / 2) * w);
}

void turn_pair(const Rope& rope, int f, std::complex<double> factor, std::span<float> row) {
  const auto [first, second] = pair_channels(rope, f);
  const std::complex<double> turned = std::complex<double>(row[first], row[second]) * factor;
  row[first] = static_cast<float>(turned.real());
  row[second] = static_cast<float>(turned.imag());
}

}  // namespace vase
