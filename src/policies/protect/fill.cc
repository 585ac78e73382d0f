#include "policies/protect/fill.h"

#include <algorithm>

#include "kernels/top_k/top_k.h"

namespace vase {

void fill_claims(const HeadView& head, const Amount& size, std::span<const float> rank, PolicyScratch& scratch,
                 Claims& claims) {
  const int wanted = size.tokens(head.budget) - claims.count_beside_prompt();
  const int count = std::min(wanted, claims.limit() - claims.count());
  if (count <= 0) return;
  const std::span<uint32_t> pool = claims.unclaimed(scratch.pool);
  kernels::top_k(rank, head.positions, pool, count, claims.ordered());
  for (uint32_t candidate : pool.first(count)) claims.add(candidate);
}

}  // namespace vase
