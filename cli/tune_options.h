// The flags of `vase tune`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eval/kl.h"
#include "text_flags.h"

namespace vase::cli {

struct TuneOptions {
  std::string model;
  TextFlags texts;
  std::vector<std::string> policies;  // never empty
  double target = 0.05;               // nats
  int step = 0;           // 0: 16, or the buffer under the parity trigger, which needs multiples of it
  double budget_mib = 0;  // > 0: compare what these buy, in place of a search
  std::vector<std::string> kv_types;  // then these; empty: all that fit the model
  std::string preset_out;             // then the best goes here
  bool overwrite = false;
  int seeds = 1, first_seed = 0;
  bool json = false;
  CacheFlags cache;
  eval::KlOptions kl;

  // nullopt when help was asked for. Throws Error(kUsage).
  static std::optional<TuneOptions> parse(const Arguments& arguments);
};

// "vase @q4_0": the policy, and the types of rows that it alone is tried with, if it has its own.
std::pair<std::string, std::optional<std::string>> split_types(const std::string& policy);

}  // namespace vase::cli
