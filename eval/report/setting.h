// What a folder's configuration says, as text. Configurations of other versions may lack a setting.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "eval/run/summary.h"

namespace vase::eval::report {

// The value at a JSON pointer such as "/sampling/top_p", words as they are, everything else as JSON; "-"
// where it is missing, null or empty. A name without a slash is a setting of the object itself.
std::string setting(const nlohmann::json& settings, const std::string& pointer);
// The same of a folder's configuration.
std::string setting(const ResultSet& set, const std::string& pointer);

// The same as a number; `otherwise` where it is none.
int64_t number_setting(const ResultSet& set, const std::string& pointer, int64_t otherwise);

// Whether another program generated the texts.
bool is_server(const ResultSet& set);
// Where it was when the run was begun, or what else names it; "-" when there was none.
std::string server_of(const ResultSet& set);

}  // namespace vase::eval::report
