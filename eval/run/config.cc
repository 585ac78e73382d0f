#include "eval/run/config.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include "eval/run/hash.h"

namespace vase::eval {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;  // of the folder; grows when a reader of the old one would misread the new one

std::string dumped(const json& value) { return value.dump(-1, ' ', true, json::error_handler_t::replace); }

// The content counts, not where it is from: the same problems in another file are the same task.
json task_json(const Task& task) {
  json problems = json::array();
  for (const Problem& p : task.problems) problems.push_back({p.id, p.problem, p.answer, p.tests});
  return {{"name", task.name},
          {"problems", task.problems.size()},
          {"hash", hex_digits(hash_text(dumped(problems)))},
          {"instruction", task.instruction}};
}

// The file of a part that was made for the model: its path stands in the policy's text, and what it holds
// counts. The parser has read it, so it is there.
json files_json(std::string_view policy) {
  json files = json::object();
  for (const std::string_view key : {"gates=", "stats="}) {
    const size_t at = policy.find(key);
    if (at == std::string_view::npos) continue;
    std::string_view path = policy.substr(at + key.size());
    path = path.substr(0, path.find_first_of(", "));
    std::ifstream in(std::string(path), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    files[std::string(key.substr(0, key.size() - 1))] = hex_digits(hash_text(content));
  }
  return files;
}

json cell_json(const Cell& cell) {
  json one = {{"policy", cell.name}, {"parts", cell.policy.text()}, {"budget", cell.budget}};
  if (const json files = files_json(cell.policy.text()); !files.empty()) one["files"] = files;
  return one;
}

const char* name_of(Trigger trigger) { return trigger == Trigger::kParity ? "parity" : "general"; }
const char* name_of(Prefill prefill) { return prefill == Prefill::kDense ? "dense" : "evict"; }
const char* name_of(Positions positions) { return positions == Positions::kCache ? "cache" : "text"; }
const char* name_of(LayerBudgets layers) { return layers == LayerBudgets::kPyramid ? "pyramid" : "uniform"; }
const char* name_of(AttentionPath path) { return path == AttentionPath::kReference ? "reference" : "fused"; }

json cache_json(const CacheOptions& c) {
  return {{"buffer", c.buffer},
          {"period", c.period},
          {"key_type", row_type_name(c.key_type)},
          {"value_type", row_type_name(c.value_type)},
          {"prefill", name_of(c.prefill)},
          {"trigger", name_of(c.trigger)},
          {"positions", name_of(c.positions)},
          {"layers", name_of(c.layer_budgets)},
          {"pyramid_beta",
           c.layer_budgets == LayerBudgets::kPyramid ? json(shortest(c.pyramid_beta)) : json(nullptr)},
          {"stagger", c.stagger},
          {"context", c.context}};
}

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

double shortest(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  double same = 0;
  std::from_chars(text, end, same);
  return same;
}

json config_json(const Generator& generator, const RunPlan& plan, const GenerationOptions& options,
                 const std::string& grader, const std::vector<std::string>& command) {
  json config = plan_json(plan);
  config.update({{"format", kFormat},
                 {"build", generator.build},
                 {"model", generator.model},
                 {"model_name", generator.name},
                 {"server", generator.server},
                 {"sampling", sampling_json(options.session.sampling)},
                 {"max_tokens", options.session.max_tokens},
                 {"stops", options.session.stops},
                 {"system", options.system},
                 {"raw", options.raw},
                 {"grader", grader}});
  if (generator.server.empty()) {
    config["cache"] = cache_json(options.cache);
    config["path"] = name_of(options.engine.path);
  }
  return {{"hash", hex_digits(hash_text(dumped(config)))},
          {"config", config},
          {"items", count_items(plan)},
          {"command", command}};
}

}  // namespace vase::eval
