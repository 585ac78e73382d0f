// How the rows of `vase bench` are shown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/decode_bench.h"

namespace vase::cli {

// incomplete: the run was interrupted, and the rows hold fewer repeats than asked for, or none.
// A Markdown table, one row per policy.
std::string bench_table(const bench::DecodeBenchOptions& options,
                        const std::vector<bench::DecodeBenchRow>& rows, bool incomplete);
// One object: settings, machine, and per policy the medians and every repeat.
nlohmann::json bench_json(const bench::DecodeBenchOptions& options,
                          const std::vector<bench::DecodeBenchRow>& rows, bool incomplete);

}  // namespace vase::cli
