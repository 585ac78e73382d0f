// Directions k^_j = k_j / (|k_j| + 1e-8) of a head's keys, for the scores that compare keys by angle.
#pragma once

#include <span>

#include "vase/policy.h"

namespace vase {

struct KeyDirections {
  std::span<float> inverse;    // [rows] 1 / (|k_j| + 1e-8), in scratch.energy
  std::span<float> dots;       // [rows] k_j . sum of all k^_i, in scratch.draws
  std::span<const float> sum;  // [padded_row(head_dim)] sum of all k^_i, in scratch.gaussian

  // k^_j . sum of all k^_i.
  double along_sum(size_t j) const { return static_cast<double>(dots[j]) * inverse[j]; }
  // |k^_j|^2: 1, or 0 for a key of zeros. With N = 1 / inverse: (N - 1e-8)^2 / N^2.
  double own(size_t j) const {
    const double direction = 1 - 1e-8 * inverse[j];
    return direction * direction;
  }
};

// Of the first `rows` rows.
KeyDirections key_directions(const RowsView& keys, int rows, PolicyScratch& scratch);

}  // namespace vase
