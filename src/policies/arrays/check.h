// What select_slots() demands of its arrays.
#pragma once

#include "vase/select.h"

namespace vase {

// Throws Error(kUsage): sizes, finite numbers, the order of positions, what the policy needs.
void check_select_input(const Policy& policy, const SelectInput& input);

}  // namespace vase
