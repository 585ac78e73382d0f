// Finds what a chat template uses that the engine does not know when the file is loaded, instead of at the first
// request that happens to reach it.
#pragma once

#include <string>

namespace jinja {
struct lexer_result;
struct program;
}  // namespace jinja

namespace vase::text {

// The engine parses and runs a template by recursion, so depth costs stack. Throws Error(kUnsupported) that gives the
// line when blocks and brackets nest more than 200 deep, or when one tag has more than 4000 words and signs (operators
// and calls in a row recurse as well). Goes before parsing.
void check_template_depth(const jinja::lexer_result& lexed);

// Throws Error(kUnsupported) that gives the line and name of the first filter, test or method that no value has.
void check_template_names(const jinja::program& program, const std::string& source);

// "line 3, column 14"
std::string line_and_column(const std::string& source, size_t offset);

}  // namespace vase::text
