// Shared by the rules that fill the protected set up to a size by some ranking.
#pragma once

#include <span>

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

// Claims the unclaimed candidates with the largest rank[c] until `size` tokens, those of the prompt left out, are
// claimed or the claims are full. Uses scratch.pool.
void fill_claims(const HeadView& head, const Amount& size, std::span<const float> rank, PolicyScratch& scratch,
                 Claims& claims);

}  // namespace vase
