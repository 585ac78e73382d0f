// Texts of users, files and servers, as a terminal may be given them.
#pragma once

#include <string>
#include <utility>

namespace vase::eval {

// Control characters become question marks: they could move the cursor, and end a line that is to be one. Those behind
// ASCII, U+0080 to U+009F, are two bytes in UTF-8; terminals obey them too.
inline std::string printable(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0; };
    if (at(i) < 0x20 || at(i) == 0x7f) text[i] = '?';
    if (at(i) == 0xc2 && (at(i + 1) & 0xe0) == 0x80) text.replace(i, 2, "?");
  }
  return text;
}

// The same as a cell of a table in Markdown, in which a bar would begin another cell.
inline std::string table_cell(std::string text) {
  text = printable(std::move(text));
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

}  // namespace vase::eval
