// Text in two columns for people.
#pragma once

#include <string>

namespace vase::cli {

// "  label      text that goes on\n             below itself": the text begins at `column`, on the next line when the
// label reaches there, and no line is longer than 100 characters unless a word is.
std::string paragraph(int indent, const std::string& label, int column, const std::string& text);

}  // namespace vase::cli
