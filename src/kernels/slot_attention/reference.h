// Plain double-precision slot attention, the measure of every other path. Same contract as slot_attention().
#pragma once

#include "kernels/slot_attention/slot_attention.h"

namespace vase::kernels::reference {

size_t scratch_floats(const SlotAttentionArgs& args);
void slot_attention(const SlotAttentionArgs& args, std::span<float> scratch);

}  // namespace vase::kernels::reference
