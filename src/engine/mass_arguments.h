// What a policy's record of attention means for the kernel.
#pragma once

#include <cstdint>

#include "cache/slot_cache.h"
#include "kernels/slot_attention/slot_attention.h"

namespace vase {

// Sets the records of args, of a run of tokens whose rows are stored and whose slots args tells already: its first
// token has position `seen`, and `candidates` will face the eviction that ends its period.
void set_mass_arguments(const PolicyNeeds& needs, HeadSlots head, int candidates, int64_t seen,
                        kernels::SlotAttentionArgs& args);

// Arguments that need as much of the kernel's scratch as any with these needs. For sizes alone.
kernels::MassArgs largest_mass(const PolicyNeeds& needs, int capacity);

}  // namespace vase
