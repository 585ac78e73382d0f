// 5-wide average along the candidates (docs/policies.md 3.2).
#pragma once

#include <span>

namespace vase::kernels {

enum class Divisor {
  kValid,  // number of neighbours that exist (default): edges are not lowered
  kFixed,  // always 5, as the authors' code: the first and last two candidates are biased low
};

// out must not alias in.
void smooth5(std::span<const float> in, Divisor divisor, std::span<float> out);

}  // namespace vase::kernels
