// What shapes the results of a run, as one JSON object with a hash: two runs with equal hashes give equal
// results, and only they may share a folder or be merged.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/run/plan.h"
#include "vase/model.h"
#include "vase/options.h"

namespace vase::eval {

// How texts are made, beside the plan.
struct GenerationOptions {
  CacheOptions cache;      // its budget is the cell's; context and max_prompt are set for the problems
  EngineOptions engine;    // sequences, threads and chunk change the time alone
  SessionOptions session;  // its seeds are the item's
  std::string system;      // system message; may be empty
  bool raw = false;        // the prompt goes to the model as it is, without chat template
  Products products = Products::kOwn;
};

// Who generates.
struct Generator {
  std::string model;   // fingerprint of the file, or the name that a server knows
  std::string name;    // of the model, for people
  std::string server;  // address, which may be another one when the run goes on; empty: this program does
  std::string build;   // version of the program
};

// {"hash": 16 hex digits over "config", "config": {...}, "items": generations of all shards, "command": [...],
// "server": "http://..."}. grader: its name, and version where it has one. command: the arguments that the run was
// begun with. That and the server's address, where there is one, are for people and not part of the hash.
nlohmann::json config_json(const Generator& generator, const RunPlan& plan, const GenerationOptions& options,
                           const std::string& grader, const std::vector<std::string>& command);

// Of the content of a config.json, the commands that made the results: one, or those of the folders that were merged.
std::vector<nlohmann::json> commands_of(const nlohmann::json& file);

}  // namespace vase::eval
