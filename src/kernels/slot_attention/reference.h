// Plain double-precision slot attention, the measure of the fused path: the arguments and results of
// slot_attention.h, without its segments.
#pragma once

#include "kernels/slot_attention/slot_attention.h"

namespace vase::kernels::reference {

size_t scratch_floats(const SlotAttentionArgs& args);
void slot_attention(const SlotAttentionArgs& args, std::span<float> scratch);

}  // namespace vase::kernels::reference
