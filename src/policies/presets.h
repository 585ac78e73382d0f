// Named policies. Each is nothing but a composition; `full`, which never evicts, is the empty one.
#pragma once

#include <string_view>

#include "vase/policy.h"

namespace vase {

// Null when there is no such preset.
const PolicyInfo* find_preset(std::string_view name);

}  // namespace vase
