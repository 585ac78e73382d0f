// Texts of users, files and servers, as a terminal may be given them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

namespace vase::eval {

// Control characters become question marks: they could move the cursor, and end a line that is to be one.
inline std::string printable(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

// The same as a cell of a table in Markdown, in which a bar would begin another cell.
inline std::string table_cell(std::string text) {
  text = printable(std::move(text));
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

}  // namespace vase::eval
