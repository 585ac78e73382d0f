// Magnitudes of one value row (docs/policies.md 3.3), computed in f32 from the f32 row before it is stored or from a
// decoded row: range = max - min, var = sum (v - mean)^2 / (d - 1), l2, absmax.
#pragma once

#include <span>

namespace vase::kernels {

enum class Magnitude { kRange, kVariance, kL2, kAbsMax };

float value_magnitude(Magnitude kind, std::span<const float> row);

}  // namespace vase::kernels
