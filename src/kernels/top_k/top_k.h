// Deterministic selection of the K largest scores (docs/policies.md 3.4). NaN of either sign ranks below every number,
// below -inf too. Ties: smaller tie key (position) first.
#pragma once

#include <cstdint>
#include <span>

namespace vase::kernels {

// pool: candidate indices, permuted in place so that its first k entries are the selected ones, best first when
// `sorted`, else in unspecified but deterministic order. ties[c] is the tie key of candidate c. k is clipped to
// [0, pool.size()]. O(pool), plus O(k log k) when sorted; allocates nothing.
void top_k(std::span<const float> scores, std::span<const int32_t> ties, std::span<uint32_t> pool, int k,
           bool sorted);

}  // namespace vase::kernels
