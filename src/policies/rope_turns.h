// Turns of channel pairs by positions, as complex numbers, for scores that need keys and queries as they were before
// the rotation or will be later (docs/policies.md 3.12). In double.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "vase/head_view.h"

namespace vase {

// Channels (first, second) that pair f of the rotation turns.
struct PairChannels {
  int first, second;
};
inline PairChannels pair_channels(const Rope& rope, int f) {
  if (rope.adjacent) return {2 * f, 2 * f + 1};
  return {f, f + static_cast<int>(rope.frequencies.size())};
}

// e^{i position frequency} of pair f.
std::complex<double> turn_at(const Rope& rope, int f, int64_t position);

// The mean of turn_at() over the positions from, from + 1, ... from + count - 1; count >= 1.
std::complex<double> mean_turn(const Rope& rope, int f, int64_t from, int64_t count);

// Multiplies pair f of the row, as a complex number, by `factor`.
void turn_pair(const Rope& rope, int f, std::complex<double> factor, std::span<float> row);

}  // namespace vase
