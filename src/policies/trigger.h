// When a head evicts (docs/policies.md 2.3), as pure functions of the slots used.
#pragma once

#include "vase/policy.h"

namespace vase {

// Number of slots used at which the next eviction fires, given the number used now: always > slots_used. A step that
// appends many tokens is cut there, so that the eviction happens exactly at that token.
// period: tokens from one eviction to the next; R for kParity.
//   kGeneral: M + period, or with the next token when more slots are used already (after a dense prefill).
//   kParity:  the next multiple of R above M; the authors' rule, which prefill tokens never trigger.
int next_eviction(Trigger trigger, int slots_used, int budget, int period);

// Throws Error(kUsage) for kParity when M is not a multiple of R: the reference's period is irregular there.
void validate_trigger(Trigger trigger, int budget, int buffer);

}  // namespace vase
