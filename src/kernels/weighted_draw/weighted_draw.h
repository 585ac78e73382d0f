// Weighted sampling without replacement by exponential race (docs/policies.md 3.5): with E_j ~ Exp(1) i.i.d., the S
// smallest E_j / w_j are distributed, order included, as S successive draws with probability w_j / (what is left).
// Keys are doubles: E and w are floats, so the quotient neither overflows nor underflows, and ranks exactly as
// ln E_j - ln w_j does. Zero, negative or NaN weights lose to every positive one; if positives run out, the draw is
// completed with the others ranked by their own E_j (uniform).
#pragma once

#include <cstdint>
#include <span>

namespace vase::kernels {

// pool: candidate indices, permuted in place; its first `count` entries are the drawn ones, in draw order when
// `ordered`, else in unspecified but deterministic order. count is clipped to [0, pool.size()].
// weights, exponentials (> 0), ties (smaller wins), keys (scratch): per candidate. Allocates nothing.
// Returns how many of the drawn had no positive weight.
int weighted_draw(std::span<const float> weights, std::span<const float> exponentials,
                  std::span<const int32_t> ties, std::span<uint32_t> pool, int count, bool ordered,
                  std::span<double> keys);

}  // namespace vase::kernels
