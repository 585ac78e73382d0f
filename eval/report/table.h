// A table of a report, for HTML and for Markdown.
#pragma once

#include <string>
#include <vector>

namespace vase::eval::report {

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as there are columns
  std::string note;                            // what the columns mean; may be empty
  size_t names = 1;                            // the first so many columns are words, the others numbers
};

// All text is escaped.
std::string html_table(const Table& table);
std::string markdown_table(const Table& table);

}  // namespace vase::eval::report
