// Which SIMD target the Highway kernels run on. The best one of the machine by default; the environment
// variable VASE_SIMD=<name>, read once when the program starts, forces another (a name that is not in
// simd_targets() is ignored here: a front end that wants to refuse it asks is_simd_target()).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vase::kernels {

// Targets that were built and that this machine can run, best first: for example "AVX3", "AVX2", "SSE4",
// "SSSE3", "EMU128".
std::vector<std::string_view> simd_targets();

bool is_simd_target(std::string_view name);

// Every later kernel call runs on `name`; an empty name gives the choice back to the machine. Not to be
// called while kernels run. Throws Error(kUsage) for a name that is not in simd_targets().
void force_simd_target(std::string_view name);

// The target that the last fused kernel call of the process really ran on; "none" before the first one.
std::string_view last_simd_target();

// For the kernels: reports HWY_TARGET of the code that runs.
void note_simd_target(int64_t target);

}  // namespace vase::kernels
