// What the machine offers to this process, its control group's limits included.
#pragma once

#include <cstdint>

namespace vase {

// Cores that do not share execution units with one another, at most the CPU quota; 1 to 256.
int physical_cores();

// Bytes of memory that can still be taken without pushing others out; UINT64_MAX when the system does not say.
uint64_t available_memory();

}  // namespace vase
