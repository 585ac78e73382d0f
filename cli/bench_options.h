// The flags of `vase bench`.
#pragma once

#include <optional>
#include <string>

#include "bench_formats.h"
#include "commands.h"
#include "end_to_end/runner.h"
#include "preset_flag.h"

namespace vase::cli {

struct BenchCommand {
  bench::BenchOptions bench;  // but its callbacks, and the path of a model that is still to be written
  std::string model, shape, weights = "q4_0", cache_dir;
  BenchFormat format = BenchFormat::kMarkdown;
  std::string out;  // empty: standard output alone
  PresetFlag preset;

  // nullopt when help was asked for. Throws Error(kUsage).
  static std::optional<BenchCommand> parse(const Arguments& arguments);
  // The model's file; a random one is written first when it is not there.
  std::string model_path() const;
};

}  // namespace vase::cli
