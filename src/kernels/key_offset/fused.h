// The Highway path of key_offset.h.
#pragma once

#include "kernels/key_offset/key_offset.h"

namespace vase::kernels::fused {

void add_offset_logits(const OffsetLogits& args);

}  // namespace vase::kernels::fused
