// Named policies. Each is nothing but a composition; `full`, which never evicts, is the empty one.
#pragma once

#include <string_view>
#include <vector>

#include "vase/policy.h"

namespace vase {

// Null when there is no such preset.
const PolicyInfo* find_preset(std::string_view name);

// Names of methods that need a file, which a preset cannot know: `text` says how such a policy is written, with FILE
// where the file's name belongs. Null when there is no such name.
const PolicyInfo* find_file_preset(std::string_view name);
const std::vector<PolicyInfo>& file_presets();

}  // namespace vase
