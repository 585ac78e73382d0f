// `vase analyze attention`: how much of the full cache's attention falls on the tokens that policies hold.
#include <atomic>
#include <future>

#include "analysis_output.h"
#include "base/machine.h"
#include "commands.h"
#include "eval/held_attention.h"
#include "eval/kl.h"
#include "eval/report/analysis.h"
#include "flags.h"
#include "given_once.h"
#include "interrupt.h"
#include "json_output.h"
#include "progress.h"
#include "require_memory.h"
#include "text_flags.h"
#include "vase/capture.h"
#include "vase/engine.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using eval::HeldShare;
using eval::TextAttention;
using nlohmann::json;

struct AttentionFlags {
  std::string model;
  TextFlags texts;
  std::vector<std::string> policies;
  std::vector<int> budgets;
  CacheFlags cache;
  int seed = 0;
  eval::KlOptions run;
  AnalysisOutput output;
};

void add_flags(CLI::App& app, AttentionFlags& o) {
  add_path(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  o.texts.add(app);
  add_repeatable(app, "--policy", o.policies, "what to keep; repeatable (vase)");
  add_budgets(app, o.budgets);
  o.cache.add_slots(app);
  o.cache.add_timing(app);
  add_integer(app, "--evict-seed", o.seed, 0, 1 << 30, "of the evictions (0)");
  add_integer(app, "--threads", o.run.threads, 1, 256, "one per physical core when absent");
  o.output.add_flags(app);
}

// A policy with one budget.
struct Cell {
  eval::report::HeldCell name;
  Policy policy;
  CacheOptions cache;
};

std::vector<Cell> cells_of(const AttentionFlags& o) {
  std::vector<Cell> cells;
  GivenOnce once;
  for (const std::string& name : o.policies) {
    const Policy policy = o.cache.parse_evicting(name);
    for (const int budget : o.budgets) {
      once.add(name, policy, budget_flag(budget));
      CacheOptions cache = o.cache.options;
      cache.budget = budget;
      policy.validate(budget, cache.buffer);
      cells.push_back({{name, budget}, policy, cache});
    }
  }
  return cells;
}

class AttentionRun {
 public:
  AttentionRun(const AttentionFlags& o, std::shared_ptr<const Model> model, std::vector<Cell> cells)
      : o_(o), model_(std::move(model)), cells_(std::move(cells)), texts_(o.texts.read(*model_)),
        study_(model_->shape().layers, cells_.size()) {
    for (const eval::Text& text : texts_) check_memory(text);
  }

  void run() {
    Progress progress(texts_.size() * (cells_.size() + 1));
    for (const eval::Text& text : texts_) add(text, progress);
    if (evictions_ > 0) return;
    throw Error(ErrorCode::kUsage, "nothing was evicted from these texts; give longer ones or a smaller --kv-budget");
  }

  eval::report::Document page() const {
    std::vector<eval::report::HeldCell> names;
    for (const Cell& cell : cells_) names.push_back(cell.name);
    return eval::report::held_page(study_, names, AnalysisOutput::foot("analyze attention"));
  }

  json report() const {
    json rows = json::array();
    for (size_t c = 0; c < cells_.size(); ++c) {
      json row = share_json(study_.all(c));
      row.update({{"policy", cells_[c].name.policy}, {"budget", cells_[c].name.budget}, {"layers", json::array()}});
      for (int l = 0; l < study_.layers(); ++l) row["layers"].push_back(share_json(study_.layer(c, l)));
      rows.push_back(std::move(row));
    }
    return {{"rows", rows},
            {"texts", texts_.size()},
            {"model", model_->shape().fingerprint},
            {"build", build_id()}};
  }

 private:
  static json share_json(const HeldShare& s) {
    return {{"attention", s.attention}, {"best", s.best}, {"tokens", s.tokens}};
  }

  TextAttention sized(const eval::Text& text) const {
    const ModelShape& shape = model_->shape();
    return TextAttention::sized(shape.query_heads, shape.kv_heads, shape.head_dim,
                                static_cast<int>(text.tokens.size()));
  }

  void check_memory(const eval::Text& text) const {
    const ModelShape& shape = model_->shape();
    const auto tokens = static_cast<int>(text.tokens.size());
    const uint64_t rows =
        shape.layers * TextAttention::bytes_for(shape.query_heads, shape.kv_heads, shape.head_dim, tokens);
    require_memory(rows, text.name + ": queries and keys of " + std::to_string(tokens) + " tokens",
                   "Give fewer --tokens");
    for (const Cell& cell : cells_) {  // what fails with one budget fails before the first
      const CacheOptions cache = eval::cache_for(cell.policy, cell.cache, text);
      require_memory(plan_memory(shape, cell.policy, cache, eval::engine_for(o_.run)).bytes(),
                     cell.name.policy + " at " + std::to_string(cell.name.budget), "Give a smaller --kv-budget");
    }
  }

  void add(const eval::Text& text, Progress& progress) {
    std::vector<std::vector<EvictionRecord>> evictions;
    for (const Cell& cell : cells_) {
      progress.next(text.name + ": " + cell.name.policy + " at " + std::to_string(cell.name.budget));
      evictions.push_back(evictions_of(cell, text));
      evictions_ += evictions.back().size();
    }
    progress.next(text.name + ": attention of the full cache");
    look_up(captured(text), evictions);
  }

  // Every layer has sums of its own, so threads need not know of each other.
  void look_up(const std::vector<TextAttention>& layers, const std::vector<std::vector<EvictionRecord>>& evictions) {
    std::atomic<int> next = 0;
    const auto work = [&] {
      for (int layer; (layer = next++) < study_.layers();) study_.add(layer, layers[layer], evictions);
    };
    const int threads = o_.run.threads > 0 ? o_.run.threads : physical_cores();
    std::vector<std::future<void>> others;
    for (int i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work));
    work();
    for (auto& other : others) other.get();
  }

  std::vector<EvictionRecord> evictions_of(const Cell& cell, const eval::Text& text) const {
    EngineOptions options = eval::engine_for(o_.run);
    options.log_evictions = true;
    Engine engine(model_, cell.policy, eval::cache_for(cell.policy, cell.cache, text), options);
    SessionOptions session;
    session.evict_seed = static_cast<uint64_t>(o_.seed);
    const std::string who = cell.name.policy + " at " + std::to_string(cell.name.budget);
    return eval::force_text(engine, text, session, who, [](int64_t, std::span<const float>) {}).evictions;
  }

  std::vector<TextAttention> captured(const eval::Text& text) const {
    std::vector<TextAttention> layers(study_.layers(), sized(text));
    capture(*model_, text.tokens, {.threads = o_.run.threads, .layers = {}},
            [&](const LayerRows& rows) { layers[rows.layer].put(rows.first, rows.queries, rows.keys); });
    return layers;
  }

  const AttentionFlags& o_;
  std::shared_ptr<const Model> model_;
  std::vector<Cell> cells_;
  std::vector<eval::Text> texts_;
  eval::HeldStudy study_;
  size_t evictions_ = 0;
};

}  // namespace

int analyze_attention_command(const Arguments& arguments) {
  AttentionFlags o;
  CLI::App app("How much of the full cache's attention falls on the tokens that policies hold, over given texts.",
               "analyze attention");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  if (o.policies.empty()) o.policies = {o.cache.policy};
  if (o.budgets.empty()) o.budgets = {128};
  if (o.cache.options.auto_types)
    throw Error(ErrorCode::kUsage, "--kv-type auto is about megabytes, and here are budgets; name a type, such as q8_0");
  std::vector<Cell> cells = cells_of(o);
  o.texts.refuse_twice();
  watch_interrupts();
  o.output.open(o.texts.inputs(o.model));
  AttentionRun run(o, Model::load(o.model), std::move(cells));
  run.run();
  o.output.write([&] { return run.page(); }, [&] { return run.report(); });
  return kExitOk;
}

}  // namespace vase::cli
