// How `vase bench` writes its rows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vase::cli {

enum class BenchFormat { kMarkdown, kCsv, kJson, kJsonl };

// The report of these records (bench_row.h). With more rows each format but JSON only grows at its end.
//   kMarkdown  a table for people, with the columns that the run has something for
//   kCsv       a header and a line per row: all fields but nested ones; the values of repeats with blanks
//   between kJson      one object: "incomplete", "rows", and at the top again what all rows about generation
//   have in common, or
//              all rows when none is; so with one row, all of it
//   kJsonl     one object per line
// incomplete: the run was interrupted; Markdown says so in a last line, JSON at the top.
std::string bench_report(BenchFormat format, const std::vector<nlohmann::ordered_json>& rows,
                         bool incomplete);

}  // namespace vase::cli
