// What the machine offers.
#pragma once

namespace vase {

// Cores that do not share execution units with one another; at least 1.
int physical_cores();

}  // namespace vase
