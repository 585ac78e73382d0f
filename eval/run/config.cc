#include "eval/run/config.h"

#include "eval/run/cache_json.h"
#include "eval/run/hash.h"
#include "eval/run/results_file.h"

namespace vase::eval {
namespace {

using nlohmann::json;

constexpr const char* kServer = "openai";  // the protocol of all servers

std::string dumped(const json& value) { return value.dump(-1, ' ', true, json::error_handler_t::replace); }

// Of the problems as one list in JSON. Put together it would be another copy of all tests of programs, which are large.
uint64_t hash_problems(const std::vector<Problem>& problems) {
  TextHash hash;
  hash.add("[");
  for (const Problem& p : problems) {
    if (&p != &problems.front()) hash.add(",");
    hash.add(dumped(json::array({p.id, p.problem, p.answer, p.tests})));
  }
  hash.add("]");
  return hash.value();
}

// The content counts, not where it is from: the same problems in another file are the same task. A file of no task in
// particular gives the task its name, and under another name it is another task.
json task_json(const Task& task) {
  return {{"name", task.name},
          {"problems", task.problems.size()},
          {"hash", hex_digits(hash_problems(task.problems))},
          {"instruction", task.instruction}};
}

json cell_json(const Cell& cell) {
  json one = {{"policy", cell.name}, {"budget", cell.budget}};
  one.update(parts_json(cell.policy.text()));
  if (cell.bought) {
    one["budget_mib"] = cell.bought->mib;
    one["kv_type"] = row_types_name(cell.bought->key_type, cell.bought->value_type);
  }
  return one;
}

const char* name_of(AttentionPath path) { return path == AttentionPath::kReference ? "reference" : "fused"; }

json sampling_json(const SamplingOptions& s) {
  return {{"temperature", shortest(s.temperature)},
          {"top_k", s.top_k},
          {"top_p", shortest(s.top_p)},
          {"min_p", shortest(s.min_p)},
          {"repetition_penalty", shortest(s.repetition_penalty)},
          {"repetition_window", s.repetition_window}};
}

json plan_json(const RunPlan& plan) {
  json tasks = json::array(), cells = json::array();
  for (const Source& source : plan.sources) tasks.push_back(task_json(source.task));
  for (const Cell& cell : plan.cells) cells.push_back(cell_json(cell));
  return {{"tasks", tasks},      {"cells", cells},    {"samples", plan.samples},
          {"seeds", plan.seeds}, {"seed", plan.seed}, {"evict_seed", plan.evict_seed}};
}

}  // namespace

json config_json(const Generator& generator, const RunPlan& plan, const GenerationOptions& options,
                 const std::string& grader, const std::vector<std::string>& command) {
  json config = plan_json(plan);
  config.update({{"format", kResultsFormat},
                 {"build", generator.build},
                 {"model", generator.model},
                 {"model_name", generator.name},
                 {"server", generator.server.empty() ? "" : kServer},
                 {"sampling", sampling_json(options.session.sampling)},
                 {"max_tokens", options.session.max_tokens},
                 {"stops", options.session.stops},
                 {"system", options.system},
                 {"raw", options.raw},
                 {"grader", grader}});
  if (options.session.stop_loops > 0) config["stop_loops"] = options.session.stop_loops;
  if (generator.server.empty()) {
    config["cache"] = cache_json(options.cache);
    config["cache"]["context"] = options.cache.context;
    config["path"] = name_of(options.engine.path);
    if (options.products == Products::kGgml) config["products"] = "ggml";
  }
  json file = {{"hash", config_hash(config)},
               {"config", config},
               {"items", count_items(plan)},
               {"command", command}};
  if (!generator.server.empty()) file["server"] = generator.server;
  return file;
}

std::vector<json> commands_of(const json& file) {
  if (const json all = file.value("commands", json()); all.is_array()) return all.get<std::vector<json>>();
  const json one = file.value("command", json());
  return one.is_array() ? std::vector<json>{one} : std::vector<json>();
}

}  // namespace vase::eval
