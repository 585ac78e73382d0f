// Pooling of scores along the candidates in logical order (docs/policies.md 3.2).
#pragma once

#include <span>

#include "kernels/smoothing/smoothing.h"

namespace vase {

enum class Pool { kNone, kAverage5, kMax7 };

// out may not alias in. kMax7: the largest of the candidate and three neighbours on either side; those that do not
// exist and those that are NaN count as -inf. A candidate that is NaN itself stays NaN, whatever its neighbours are.
void pool_scores(Pool pool, std::span<const float> in, kernels::Divisor divisor, std::span<float> out);

}  // namespace vase
