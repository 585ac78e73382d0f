// The kernel's arguments for a run of new tokens of one KV head.
#pragma once

#include "cache/slot_cache.h"
#include "kernels/slot_attention/slot_attention.h"
#include "model/forward.h"

namespace vase {

// first: index of the run's first token in the batch. The run's rows have been appended; it attends to all slots used.
kernels::SlotAttentionArgs run_arguments(const model::LayerInputs& in, const CacheShape& shape, int kv_head, int first,
                                         int tokens, HeadSlots head);

}  // namespace vase
