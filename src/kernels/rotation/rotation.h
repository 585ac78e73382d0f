// Turns rows that RoPE has rotated on to other positions.
#pragma once

#include <span>

#include "vase/head_view.h"

namespace vase::kernels {

// Cosine and sine of every pair for a shift of `positions`: turn[2f] and turn[2f + 1], 2 x pairs floats. The magnitude
// of RoPE is in the rows already and plays no part.
void rotation_for(const Rope& rope, double positions, std::span<float> turn);

// Rotates a row by that shift; channels behind the pairs stay. In place.
void rotate_row(const Rope& rope, std::span<const float> turn, std::span<float> row);

}  // namespace vase::kernels
