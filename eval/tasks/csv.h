// Comma-separated values as RFC 4180 has them: cells in double quotes may hold commas, line ends and doubled quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vase::eval {

struct CsvRow {
  std::vector<std::string> cells;
  size_t line;  // where the row begins, from 1
};

// Empty lines are skipped. `name` is the file's, for messages. Throws Error(kCorrupt) with the line: a quote that is
// not closed, text behind a closing quote.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name);

}  // namespace vase::eval
