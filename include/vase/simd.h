// Which SIMD target the attention kernels run on: the best one of the machine, or the one that the
// environment variable VASE_SIMD names, read once when the program starts (for tests and measurements:
// results of different targets agree up to rounding). VASE_SIMD must be a name out of simd_targets(), spelled
// as there; empty is as good as unset. A name that is none of them leaves the choice to the machine, so a
// front end calls check_simd_request() first. ggml's own kernels do not follow it.
#pragma once

#include <string>
#include <vector>

#include "vase/export.h"

namespace vase {

// Targets that were built and that this machine can run, best first: for example "AVX3", "AVX2", "SSE4",
// "SSSE3", "EMU128".
VASE_API std::vector<std::string> simd_targets();

// The target in use, one of simd_targets().
VASE_API std::string simd_target();

// Throws Error(kUsage), naming what is allowed, if VASE_SIMD asks for a target that is not in simd_targets().
VASE_API void check_simd_request();

}  // namespace vase
