// The kernels' side of vase/simd.h: changes the SIMD target while the program runs, and tells which one ran.
#pragma once

#include <cstdint>
#include <string_view>

namespace vase::kernels {

bool is_simd_target(std::string_view name);

// Every later kernel call runs on `name`; an empty name gives the choice back to the machine. Not to be
// called while kernels run. Throws Error(kUsage) for a name that is not in simd_targets().
void force_simd_target(std::string_view name);

// The target that the last fused kernel call of the process really ran on; "none" before the first one.
std::string_view last_simd_target();

// For the kernels: reports HWY_TARGET of the code that runs.
void note_simd_target(int64_t target);

}  // namespace vase::kernels
