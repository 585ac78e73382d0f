// The Highway path: each function runs on the SIMD target that simd_target.h has in force.
#pragma once

#include "kernels/slot_attention/slot_attention.h"

namespace vase::kernels::fused {

void slot_attention(const SlotAttentionArgs& args, std::span<float> scratch);
void prepare(const SlotAttentionArgs& args, std::span<float> scratch);
void segment(const SlotAttentionArgs& args, int index, std::span<float> scratch);
void finish(const SlotAttentionArgs& args, std::span<float> scratch);

}  // namespace vase::kernels::fused
