// The end of `vase eval run`, and all of `vase eval show`: what came out.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "eval/run/summary.h"

namespace vase::cli {

// To standard output: a table for people with how many of the texts are there, or one JSON object.
void print_results(std::span<const eval::ResultSet> sets, bool as_json);

// The object alone.
nlohmann::json results_json(std::span<const eval::ResultSet> sets);

}  // namespace vase::cli
