// `vase info`: what a model file is and what each budget costs.
#include <algorithm>

#include "commands.h"
#include "eval/printable.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "vase/memory.h"
#include "vase/model.h"

namespace vase::cli {
namespace {

constexpr int kBudgets[] = {128, 256, 512, 1024, 2048, 4096, 8192};

struct Row {
  std::string budget;  // tokens, or "full"
  MemoryPlan plan;
  bool requested = false;
};

// requested: whether the flags name a budget, which gets a row of its own. Types that megabytes chose are its alone.
std::vector<Row> plan_rows(const ModelShape& shape, const Policy& policy, const CacheOptions& options,
                           bool requested) {
  std::vector<Row> rows;
  CacheOptions cache = options;
  cache.budget_mib = 0;
  cache.auto_types = false;
  if (requested && !policy.reads()) {
    const MemoryPlan plan = plan_memory(shape, policy, options, {});
    rows.push_back({std::to_string(plan.budget), plan, true});
  }
  for (const int budget : kBudgets) {
    const bool there = requested && rows.front().plan.budget == budget;
    if (!policy.evicts() || there || budget < smallest_budget(shape, policy, cache)) continue;
    cache.budget = budget;
    rows.push_back({std::to_string(budget), plan_memory(shape, policy, cache, {})});
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return row.plan.budget; });
  if (cache.context == 0) cache.context = shape.trained_context;
  rows.push_back({"full", plan_memory(shape, policy.evicts() ? Policy() : policy, cache, {})});
  return rows;
}

// What the lines above the table are about: the budget that was asked for.
const MemoryPlan& described(const std::vector<Row>& rows) {
  const auto requested = std::ranges::find(rows, true, &Row::requested);
  return requested == rows.end() ? rows.front().plan : requested->plan;
}

std::string table(const ModelShape& s, const std::vector<Row>& rows) {
  std::string text =
      formatted("%s (%s)\n", s.name.empty() ? "unnamed" : eval::printable(s.name).c_str(),
                eval::printable(s.architecture).c_str());
  text += formatted(
      "  layers           %d\n  query heads      %d\n  KV heads         %d\n  head width       %d\n",
      s.layers, s.query_heads, s.kv_heads, s.head_dim);
  text += formatted("  embedding        %d\n  vocabulary       %d\n  trained context  %d tokens\n",
                    s.embedding, s.vocabulary, s.trained_context);
  text += formatted("  file             %.1f MiB\n", mib(s.file_bytes));
  const MemoryPlan& p = described(rows);
  text += formatted("  rows             %s\n", row_types_name(p.key_type, p.value_type).c_str());
  text += formatted("  KV per token     %llu B (%d layers x %d KV heads x (%d K + %d V + %d meta) B)\n\n",
                    static_cast<unsigned long long>(p.bytes_per_slot()), p.layers, p.kv_heads, p.key_row,
                    p.value_row, p.metadata);
  text += formatted("  %-10s %10s %10s  %s\n", "budget", "slots", "MiB", "rows");
  for (const Row& row : rows) {
    text += formatted("  %-10s %10d %10.1f  %s%s\n", row.budget.c_str(), row.plan.capacity, mib(row.plan.bytes()),
                      row_types_name(row.plan.key_type, row.plan.value_type).c_str(),
                      row.requested ? ", requested" : "");
  }
  return text;
}

nlohmann::json info_json(const ModelShape& s, const std::vector<Row>& rows) {
  nlohmann::json budgets = nlohmann::json::array();
  for (const Row& row : rows) {
    budgets.push_back(
        {{"budget", row.budget}, {"requested", row.requested}, {"memory", memory_json(row.plan)}});
  }
  return {{"architecture", s.architecture},
          {"name", s.name},
          {"layers", s.layers},
          {"query_heads", s.query_heads},
          {"kv_heads", s.kv_heads},
          {"head_dim", s.head_dim},
          {"embedding", s.embedding},
          {"vocabulary", s.vocabulary},
          {"trained_context", s.trained_context},
          {"file_bytes", s.file_bytes},
          {"fingerprint", s.fingerprint},
          {"kv_bytes_per_token", described(rows).bytes_per_slot()},
          {"budgets", budgets},
          {"build", build_id()}};
}

}  // namespace

int info_command(const Arguments& arguments) {
  std::string model;
  bool json = false;
  CacheFlags cache;
  CLI::App app("Shows a model's shape and what each KV budget costs.", "info");
  app.add_option("model,-m,--model", model, "GGUF file")->required()->type_name("");
  app.add_flag("--json", json, "print one JSON object");
  cache.add_memory(app);
  cache.add_policy(app);
  if (!parse(app, arguments)) return kExitOk;
  const Policy policy = cache.parse_policy();
  if (!policy.evicts()) cache.refuse_idle(app, policy.reads());
  cache.settle_types(cache.options.budget_mib > 0, policy.evicts());
  // As long as `vase run` answers unless told otherwise.
  if (app.count("--ctx") == 0) cache.options.expected_tokens = SessionOptions().max_tokens;
  const bool requested = app.count("--kv-budget") + app.count("--kv-budget-mb") > 0;

  const ModelShape shape = read_model_shape(model);
  const std::vector<Row> rows = plan_rows(shape, policy, cache.options, requested);
  json ? print_json(info_json(shape, rows)) : write_output(table(shape, rows));
  return kExitOk;
}

}  // namespace vase::cli
