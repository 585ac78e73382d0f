// What a policy's record of attention means for the kernel.
#pragma once

#include <cstdint>

#include "cache/slot_cache.h"
#include "kernels/slot_attention/slot_attention.h"

namespace vase {

// Of a run of tokens whose rows are stored: slots_before slots were used before it, its first token has position `seen`,
// and `candidates` will face the eviction that ends its period.
kernels::MassArgs mass_arguments(const PolicyNeeds& needs, HeadSlots head, int candidates, int slots_before, int64_t seen);

// Arguments that need as much of the kernel's scratch as any with these needs. For sizes alone.
kernels::MassArgs largest_mass(const PolicyNeeds& needs, int capacity);

}  // namespace vase
