// What the program writes for other programs to read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "output.h"
#include "run_options.h"
#include "vase/engine.h"

namespace vase::cli {

struct RunTimes {
  double load_s = 0, prefill_s = 0, decode_s = 0;
};

// The result of `vase run --json`.
nlohmann::json run_json(const RunOptions& options, const Model& model, const Engine& engine, const Session& session,
                        std::span<const int32_t> prompt, const std::string& text, const RunTimes& times);

// Of the tokens seen, those that are still held; 1 when nothing was seen.
double kept_fraction(const Counters& counters);

inline double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// The terms of the memory formula, in bytes and counts.
nlohmann::json memory_json(const MemoryPlan& plan);

// To standard output, on one line unless indented. Paths and names in model files need not be UTF-8; what is
// not is replaced. Throws Error(kResource).
void print_json(const nlohmann::json& object, int indent = -1);

// One line per eviction (eval/eviction_log.h). Throws Error(kResource).
void write_evictions(OutputFile& out, std::span<const EvictionRecord> records);

}  // namespace vase::cli
