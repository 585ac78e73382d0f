// `vase info`: what a model file is and what each budget costs.
#include <cstdio>

#include "commands.h"
#include "flags.h"
#include "json_output.h"
#include "vase/error.h"
#include "vase/memory.h"
#include "vase/model.h"

namespace vase::cli {
namespace {

constexpr int kBudgets[] = {128, 256, 512, 1024, 2048, 4096, 8192};

struct Row {
  std::string budget;  // tokens, or "full"
  MemoryPlan plan;
};

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

std::vector<Row> plan_rows(const ModelShape& shape, const CacheFlags& flags) {
  std::vector<Row> rows;
  for (const int budget : kBudgets) {
    CacheOptions cache = flags.options;
    cache.budget = budget;
    cache.budget_mib = 0;
    try {
      rows.push_back({std::to_string(budget), plan_memory(shape, flags.parse_policy(), cache, {})});
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kUsage) throw;  // below the smallest budget of this policy: no row
    }
  }
  CacheOptions cache = flags.options;
  cache.budget_mib = 0;
  cache.context = shape.trained_context;
  rows.push_back({"full", plan_memory(shape, Policy::parse("full"), cache, {})});
  return rows;
}

void print_text(const ModelShape& s, const std::vector<Row>& rows) {
  std::printf("%s (%s)\n", s.name.empty() ? "unnamed" : s.name.c_str(), s.architecture.c_str());
  std::printf("  layers           %d\n  query heads      %d\n  KV heads         %d\n  head width       %d\n", s.layers,
              s.query_heads, s.kv_heads, s.head_dim);
  std::printf("  embedding        %d\n  vocabulary       %d\n  trained context  %d tokens\n", s.embedding, s.vocabulary,
              s.trained_context);
  std::printf("  file             %.1f MiB\n", mib(s.file_bytes));
  const MemoryPlan& p = rows.front().plan;
  std::printf("  KV per token     %llu B (%d layers x %d KV heads x (%d K + %d V + %d meta) B)\n\n",
              static_cast<unsigned long long>(p.bytes_per_slot()), p.layers, p.kv_heads, p.key_row, p.value_row,
              p.metadata);
  std::printf("  %-10s %10s %10s\n", "budget", "slots", "MiB");
  for (const Row& row : rows) {
    std::printf("  %-10s %10d %10.1f\n", row.budget.c_str(), row.plan.capacity, mib(row.plan.bytes()));
  }
}

void print_shape_json(const ModelShape& s, const std::vector<Row>& rows) {
  nlohmann::json budgets = nlohmann::json::array();
  for (const Row& row : rows) {
    budgets.push_back({{"budget", row.budget}, {"memory", memory_json(row.plan)}});
  }
  print_json({{"architecture", s.architecture},
                              {"name", s.name},
                              {"layers", s.layers},
                              {"query_heads", s.query_heads},
                              {"kv_heads", s.kv_heads},
                              {"head_dim", s.head_dim},
                              {"embedding", s.embedding},
                              {"vocabulary", s.vocabulary},
                              {"trained_context", s.trained_context},
                              {"file_bytes", s.file_bytes},
                              {"kv_bytes_per_token", rows.front().plan.bytes_per_slot()},
                              {"budgets", budgets},
                              {"build", build_id()}});
}

}  // namespace

int info_command(const Arguments& arguments) {
  std::string model;
  bool json = false;
  CacheFlags cache;
  CLI::App app("Shows a model's shape and what each KV budget costs.", "info");
  app.add_option("model,--model", model, "GGUF file")->required()->type_name("");
  app.add_flag("--json", json, "print one JSON object");
  cache.add_to(app);
  if (!parse(app, arguments)) return kExitOk;

  const ModelShape shape = read_model_shape(model);
  const std::vector<Row> rows = plan_rows(shape, cache);
  json ? print_shape_json(shape, rows) : print_text(shape, rows);
  return std::fflush(stdout) == 0 ? kExitOk : kExitFailure;
}

}  // namespace vase::cli
