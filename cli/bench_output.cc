#include "bench_output.h"

#include <filesystem>

namespace vase::cli {

BenchOutput::BenchOutput(BenchFormat format, const std::string& out) : format_(format), out_(out) {
  if (out.empty()) return;
  std::error_code error;
  const auto status = std::filesystem::status(out, error);
  direct_.emplace(out);  // fails now and not after hours, when it cannot be written
  if (!exists(status) || is_regular_file(status)) direct_.reset();
}

void BenchOutput::add(nlohmann::ordered_json row) {
  rows_.push_back(std::move(row));
  print(false, false);
  if (!out_.empty() && !direct_) replace_file(true);  // until close(), in case it never comes
}

void BenchOutput::close(bool incomplete) {
  print(incomplete, true);
  if (direct_) {
    direct_->write(bench_report(format_, rows_, incomplete));
    direct_->commit();
  } else if (!out_.empty()) {
    replace_file(incomplete);
  }
}

// JSON is closed by its last byte, so it comes at the end.
void BenchOutput::print(bool incomplete, bool last) {
  const BenchFormat format = out_.empty() ? format_ : BenchFormat::kMarkdown;
  if (format == BenchFormat::kJson && !last) return;
  const std::string report = bench_report(format, rows_, incomplete);
  write_output(std::string_view(report).substr(printed_));
  printed_ = report.size();
}

void BenchOutput::replace_file(bool incomplete) {
  OutputFile file(out_);
  file.write(bench_report(format_, rows_, incomplete));
  file.commit();
}

}  // namespace vase::cli
