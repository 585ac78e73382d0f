// Where the rows of `vase bench` go: to standard output as they come, and to a file that holds whole rows at
// any time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench_formats.h"
#include "growing_file.h"

namespace vase::cli {

class BenchOutput {
 public:
  // out: path of the file, which gets the format, and standard output a table for people; empty: standard
  // output gets the format. Throws Error when the file cannot be written.
  BenchOutput(BenchFormat format, const std::string& out);

  // The file is replaced as a whole, so an interrupted run leaves the rows that were done. What exists and is
  // no regular file (a pipe) is written by close().
  void add(nlohmann::ordered_json row);
  // Rows are still shown on standard output when the file cannot be written. Throws Error(kResource).
  void close(bool incomplete);

 private:
  void print(bool incomplete, bool last);

  BenchFormat format_;
  std::optional<GrowingFile> file_;
  std::vector<nlohmann::ordered_json> rows_;
  size_t printed_ = 0;  // bytes
};

}  // namespace vase::cli
