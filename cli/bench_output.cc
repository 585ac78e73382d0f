#include "bench_output.h"

namespace vase::cli {

BenchOutput::BenchOutput(BenchFormat format, const std::string& out) : format_(format) {
  if (!out.empty()) file_.emplace(out);
}

void BenchOutput::add(nlohmann::ordered_json row) {
  rows_.push_back(std::move(row));
  print(false, false);
  if (file_ && !file_->is_pipe())
    file_->set(bench_report(format_, rows_, true));  // in case close() never comes
}

void BenchOutput::close(bool incomplete) {
  print(incomplete, true);
  if (file_) file_->set(bench_report(format_, rows_, incomplete));
}

// JSON is closed by its last byte, so it comes at the end.
void BenchOutput::print(bool incomplete, bool last) {
  const BenchFormat format = file_ ? BenchFormat::kMarkdown : format_;
  if (format == BenchFormat::kJson && !last) return;
  const std::string report = bench_report(format, rows_, incomplete);
  write_output(std::string_view(report).substr(printed_));
  printed_ = report.size();
}

}  // namespace vase::cli
