// What `vase eval kl --out` has written, read again.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/kl_report.h"

namespace vase::eval::report {

// One text under one policy, budget and seed; text_json() of eval/kl_report.h tells what the numbers are.
struct KlLine {
  std::string model, build, policy, text;
  int budget = 0;  // 0: the full cache against itself
  uint64_t evict_seed = 0;
  int64_t tokens = 0, positions = 0;
  double kl_mean = 0, kl_median = 0, kl_p99 = 0, kl_max = 0, same_top = 0, nll = 0, nll_full = 0;
  nlohmann::json settings =
      nlohmann::json::object();  // "parts", "files" and "cache" of settings_json(); empty in old files
};

struct KlFile {
  std::string name;  // the path
  std::vector<KlLine> lines;
  bool torn = false;  // its last line is not whole: something has cut the file off
};

// Throws Error: kNotFound; kCorrupt, with the line, for what `vase eval kl` has not written, and for a file
// without a line.
KlFile read_kl_file(const std::string& path);

// One policy at one budget with one cache on one model over all texts and seeds of a file.
struct KlFileRow {
  std::string model, policy;
  int budget = 0;
  nlohmann::json settings;
  std::string label;  // the policy, and what tells it from others of its name: "vase · key_type q8_0"
  size_t seeds = 0;
  // As summarise() of eval/kl_summary.h has it, but for the median and p99, which cannot be had from those of
  // the texts: they are means over texts.
  KlSummary summary;
};

// In the order in which they come first. Lines whose settings differ are different rows.
std::vector<KlFileRow> kl_rows(const KlFile& file);

// The largest mean of the full cache against itself on this model; empty when the rows have none.
std::optional<double> noise_floor(std::span<const KlFileRow> rows, const std::string& model);

nlohmann::json kl_file_json(const KlFile& file);

}  // namespace vase::eval::report
