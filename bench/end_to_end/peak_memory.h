// The most memory that this process has had resident.
#pragma once

#include <cstdint>

namespace vase::bench {

// The peak begins again at what is resident now. Where the system does not allow it, it goes on.
void reset_peak_memory();
uint64_t peak_memory();  // bytes; 0 when the system does not say

}  // namespace vase::bench
