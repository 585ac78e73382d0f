// JSON out of files, servers and programs that nobody vouches for.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace vase::eval {

// What the text says; a discarded value (is_discarded()) when it is no JSON in UTF-8, or nested more than 100
// deep: copies, comparisons and texts of a value are made level by level on the stack, and no format that is
// read here comes near.
nlohmann::json parse_json(std::string_view text);

}  // namespace vase::eval
