// Small results for the tests of eval/report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "eval/run/run_helpers.h"
#include "eval/run/summary.h"

namespace vase::eval::report {

using Cells = std::vector<std::pair<std::string, int>>;  // policy and budget

// The folder `name` with the cells of a run on task "t"; its hash is its name.
inline ResultSet set_of(const std::string& name, const Cells& cells, std::vector<Result> results,
                        const std::string& model = "f00d") {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [policy, budget] : cells)
    list.push_back({{"policy", policy}, {"budget", budget}, {"parts", policy}});
  const nlohmann::json config = {
      {"tasks",
       nlohmann::json::array({{{"name", "t"}, {"problems", 2}, {"hash", "c0"}, {"instruction", " Go."}}})},
      {"cells", list},
      {"model", model},
      {"model_name", "tiny"},
      {"server", ""},
      {"build", "0.1"},
      {"max_tokens", 1000},
      {"sampling", {{"temperature", 0.6}}},
      {"cache",
       {{"buffer", 16}, {"period", 0}, {"key_type", "f16"}, {"value_type", "f16"}, {"prefill", "evict"}}}};
  const auto count = results.size();
  return {name,
          {{"hash", name},
           {"config", config},
           {"items", count},
           {"command", {"--model", "m 1.gguf", "--out", "it's"}}},
          std::move(results)};
}

// A result with a length and memory.
inline Result sized(const std::string& policy, int budget, const std::string& id, bool right, int generated,
                    uint64_t kv_bytes) {
  Result r = result(policy, budget, id, right);
  r.generated_tokens = generated;
  r.kv_bytes = kv_bytes;
  return r;
}

}  // namespace vase::eval::report
