// Finds what a chat template uses that the engine does not know when the file is loaded, instead of at the first
// request that happens to reach it.
#pragma once

#include <string>

namespace jinja {
struct program;
}

namespace vase::text {

// Throws Error(kUnsupported) that gives the line and name of the first filter, test or method that no value has.
void check_template_names(const jinja::program& program, const std::string& source);

// "line 3, column 14"
std::string line_and_column(const std::string& source, size_t offset);

}  // namespace vase::text
