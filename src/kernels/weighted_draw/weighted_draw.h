// Weighted sampling without replacement by exponential race (policies.md 3.5): keep the S smallest
// ln E_j - ln w_j, evaluated in double. Zero, negative or NaN weights lose to every positive one; if positives run
// out, the draw is completed with the others ranked by their own E_j (uniform).
#pragma once

#include <cstdint>
#include <span>

namespace vase::kernels {

// pool: candidate indices, permuted in place; its first `count` entries are the drawn ones in draw order.
// weights, exponentials, ties: per candidate. Returns how many of the drawn had no positive weight.
int weighted_draw(std::span<const float> weights, std::span<const float> exponentials,
                  std::span<const int32_t> ties, std::span<uint32_t> pool, int count, std::span<double> keys);

}  // namespace vase::kernels
