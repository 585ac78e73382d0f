// Candidates by position, for rules that protect a stretch of the text.
#pragma once

#include <span>

#include "vase/policy.h"

namespace vase {

// Indices of the candidates with first <= position < end, in ascending position; they lie in scratch.pool.
std::span<uint32_t> candidates_between(const HeadView& head, int first, int end, PolicyScratch& scratch);

}  // namespace vase
