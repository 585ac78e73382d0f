// The flags of `vase run`.
#pragma once

#include <optional>
#include <string>

#include "commands.h"
#include "flags.h"
#include "preset_flag.h"
#include "vase/options.h"

namespace vase::cli {

struct RunOptions {
  std::string model, system;
  std::optional<std::string> prompt;  // from the argument
  std::string file;                   // or from here; else from standard input
  bool raw = false, json = false;
  CacheFlags cache;
  PresetFlag preset;
  Policy policy;
  EngineOptions engine;
  SessionOptions session;  // its seeds are set by resolve_seeds()
  std::optional<uint64_t> seed, evict_seed;
  std::string eviction_log, logits_dump;

  // nullopt when help was asked for. Throws Error(kUsage).
  static std::optional<RunOptions> parse(const Arguments& arguments);
  // Draws the seeds that were not given.
  void resolve_seeds();
};

// The prompt's text from argument, file or standard input. One line end at the end of a file or of standard
// input is not part of it. Throws Error.
std::string read_prompt(const RunOptions& options);

}  // namespace vase::cli
