// Size of each candidate's value row, by any measure (docs/policies.md 3.3), for the parts that rank by it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kernels/value_range/value_range.h"
#include "vase/policy.h"

namespace vase {

// Names in a policy's text, in the order of kernels::Magnitude; `range` is the default.
inline constexpr std::array<std::string_view, 4> kMagnitudeNames = {"range", "var", "l2", "absmax"};

inline PolicyNeeds magnitude_needs(kernels::Magnitude kind) {
  return {.value_range = kind == kernels::Magnitude::kRange, .row_blocks = kind != kernels::Magnitude::kRange};
}

// out[C]: the range as stored when the row was appended, the other measures from the stored rows.
void value_magnitudes(kernels::Magnitude kind, const HeadView& head, PolicyScratch& scratch, std::span<float> out);

}  // namespace vase
