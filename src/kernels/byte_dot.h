// Whether kernels may use the processor's instructions for dot products of bytes.
#pragma once

namespace vase::kernels {

// Tests turn it off to run what processors without such instructions run. Not to be changed while kernels run.
extern bool byte_dot_allowed;

}  // namespace vase::kernels
