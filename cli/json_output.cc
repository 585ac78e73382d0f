#include "json_output.h"

#include "eval/eviction_log.h"
#include "eval/failure_label.h"
#include "eval/run/prompt.h"

namespace vase::cli {

using nlohmann::json;

double kept_fraction(const Counters& counters) {
  return counters.tokens_seen > 0 ? static_cast<double>(counters.slots_used) / static_cast<double>(counters.tokens_seen)
                                  : 1;
}

json memory_json(const MemoryPlan& plan) {
  return {{"bytes", plan.bytes()},           {"formula", plan.formula()},
          {"layers", plan.layers},           {"kv_heads", plan.kv_heads},
          {"sequences", plan.sequences},     {"budget", plan.budget},
          {"first_budget", plan.first_budget}, {"last_budget", plan.last_budget},
          {"read", plan.read},               {"summary_bytes", plan.summaries},
          {"buffer", plan.buffer},           {"capacity", plan.capacity},
          {"key_type", row_type_name(plan.key_type)}, {"value_type", row_type_name(plan.value_type)},
          {"key_row_bytes", plan.key_row},   {"value_row_bytes", plan.value_row},
          {"recent", plan.recent},           {"recent_key_row_bytes", plan.recent_key_row},
          {"recent_value_row_bytes", plan.recent_value_row}, {"unused_bytes", plan.unused},
          {"metadata_bytes", plan.metadata}, {"scratch_bytes", plan.scratch}};
}

json run_json(const RunOptions& options, const Model& model, const Engine& engine, const Session& session,
              std::span<const int32_t> prompt, const std::string& text, const RunTimes& times) {
  const Counters counters = session.counters();
  const int generated = session.generated_tokens();
  const double rate = times.decode_s > 0 && generated > 1 ? (generated - 1) / times.decode_s : 0;
  const ModelShape& shape = model.shape();
  const std::string_view finish = finish_name(session.finish());
  return {{"text", text},
          {"finish", finish},
          {"label", eval::label_name(eval::label_of(text, finish, eval::opens_thinking(model, prompt)))},
          {"prompt_ids", std::vector<int32_t>(prompt.begin(), prompt.end())},
          {"tokens", std::vector<int32_t>(session.generated().begin(), session.generated().end())},
          {"prompt_tokens", session.prompt_tokens()},
          {"generated_tokens", generated},
          {"counters",
           {{"tokens_seen", counters.tokens_seen},
            {"slots_used", counters.slots_used},
            {"evicted", counters.evicted},
            {"evictions", counters.evictions},
            {"nonfinite_scores", engine.nonfinite_scores()},
            {"protection_truncated", engine.protection_truncated()},
            {"weightless_draws", engine.weightless_draws()},
            {"kept_fraction", kept_fraction(counters)}}},
          {"seed", options.session.sampling.seed},
          {"evict_seed", options.session.evict_seed},
          {"policy", engine.policy().text()},
          {"memory", memory_json(engine.memory())},
          {"timings",
           {{"load_s", times.load_s},
            {"prefill_s", times.prefill_s},
            {"decode_s", times.decode_s},
            {"decode_tokens_per_s", rate}}},
          {"model",
           {{"architecture", shape.architecture},
            {"name", shape.name},
            {"bytes", shape.file_bytes},
            {"fingerprint", shape.fingerprint}}},
          {"build", build_id()}};
}

void print_json(const json& object, int indent) {
  write_output(object.dump(indent, ' ', false, json::error_handler_t::replace) + "\n");
}

void write_evictions(OutputFile& out, std::span<const EvictionRecord> records) {
  for (const EvictionRecord& r : records) {
    out.write(eval::eviction_log_line(r));
  }
  out.commit();
}

}  // namespace vase::cli
