// Joins the folders of runs with one configuration: the shards of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vase::eval {

struct Merged {
  // That all of them have: the content of the first one's config.json, with the commands of all in "commands" in place
  // of "command", unless it is the same everywhere.
  nlohmann::json config;
  int64_t results = 0;    // written
  int64_t repeated = 0;   // lines that equalled one of another folder, timing aside, and were left out
  std::vector<std::string> torn;  // files whose last line was torn, and left out
};

// Hands over the lines of all folders, sorted by task, problem, policy, budget, run and sample. A torn last
// line is left out. Throws Error: kUsage when the configurations differ, or when two folders have different
// results for one item; what read_config() and read_results() throw.
Merged merge_results(std::span<const std::string> folders,
                     const std::function<void(std::string_view line)>& write);

}  // namespace vase::eval
