// Text from files and command lines, made safe to stand in a page.
#pragma once

#include <string>
#include <string_view>

namespace vase::eval::report {

// For HTML and XML, in text and in attributes between double quotes. Bytes that are not UTF-8 and control
// characters become U+FFFD; line breaks and tabs stay.
std::string html_escaped(std::string_view text);

// For a cell of a table or a paragraph: one line in which nothing is markup.
std::string markdown_escaped(std::string_view text);

// Characters (code points) of a UTF-8 text.
size_t character_count(std::string_view text);

// At most `most` characters (5 or more): what is longer loses its middle, where "…" stands.
std::string shortened(const std::string& text, size_t most);

}  // namespace vase::eval::report
