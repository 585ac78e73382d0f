// `vase eval kl`: how far policies move a model from its own full cache, over given texts.
#include <optional>

#include "commands.h"
#include "eval/kl.h"
#include "eval/kl_report.h"
#include "flags.h"
#include "given_once.h"
#include "growing_file.h"
#include "interrupt.h"
#include "json_output.h"
#include "kl_run.h"
#include "output.h"
#include "policies/words.h"
#include "preset_flag.h"
#include "run_and_report.h"
#include "text_flags.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

struct KlFlags {
  std::string model, out;
  TextFlags texts;
  std::vector<std::string> policies;
  std::vector<int> budgets;
  std::vector<double> megabytes;
  int seeds = 1, first_seed = 0;
  bool json = false;
  CacheFlags cache;
  PresetFlag preset;
  eval::KlOptions kl;
};

void add_flags(CLI::App& app, KlFlags& o) {
  add_path(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  o.texts.add(app);
  add_repeatable(app, "--policy", o.policies, "what to keep; repeatable (vase)");
  add_budgets(app, o.budgets);
  add_megabytes(app, o.megabytes);
  o.cache.add_slots(app);
  o.cache.add_timing(app);
  o.preset.add(app);
  add_integer(app, "--seeds", o.seeds, 1, 1000, "eviction seeds for every policy that draws (1)");
  add_integer(app, "--evict-seed", o.first_seed, 0, 1 << 30, "the first of them (0)");
  add_integer(app, "--chunk", o.kl.chunk, 1, 4096,
              "tokens fed at a time (64); changes the time and nothing else");
  add_integer(app, "--threads", o.kl.threads, 1, 256, "one per physical core when absent");
  add_path(app, "--out", o.out, "write one JSON line per policy, budget, seed and text to this file");
  app.add_flag("--json", o.json, "print the summary as JSON instead of a table");
}

void add_row(KlGrid& grid, const KlFlags& o, eval::KlRow row, const Policy& policy, const CacheOptions& cache) {
  policy.validate(cache.budget, cache.buffer);
  row.settings = eval::settings_json(policy, cache, o.kl);
  const eval::KlCell first{policy, row.name, cache, static_cast<uint64_t>(o.first_seed)};
  grid.add(std::move(row), first, o.seeds);
}

// The policies with their names, every one of them with budgets.
std::vector<std::pair<std::string, Policy>> parse_policies(const KlFlags& o) {
  std::vector<std::pair<std::string, Policy>> policies;
  if (o.preset.given()) return {{o.preset.preset().name, o.cache.parse_policy()}};
  GivenOnce once;
  for (const std::string& text : o.policies) {
    policies.emplace_back(o.cache.with_rules(text), o.cache.parse_policy(text));
    const Policy& policy = policies.back().second;
    if (!policy.evicts() && !policy.reads()) {
      throw Error(ErrorCode::kUsage, "--policy full is what every policy is compared with; leave it out");
    }
    if (policy.reads() && !o.megabytes.empty()) {
      throw Error(ErrorCode::kUsage, "--kv-budget-mb buys tokens that are kept, and " + vase::quoted(text) +
                                         " keeps every one; give it --kv-budget");
    }
    for (const int budget : o.budgets) once.add(text, policy, budget_flag(budget));
    for (const double mib : o.megabytes) once.add(text, policy, megabytes_flag(mib));
  }
  return policies;
}

KlGrid make_grid(const KlFlags& o) {
  KlGrid grid;
  for (const auto& [name, policy] : parse_policies(o)) {
    for (const int budget : o.budgets) {
      CacheOptions cache = o.cache.options;
      cache.budget = budget;
      add_row(grid, o, {name, budget, {}}, policy, cache);
    }
  }
  return grid;
}

// The same for megabytes, with what they buy for the longest of the texts.
KlGrid buy_grid(const KlFlags& o, const ModelShape& shape, const std::vector<eval::Text>& texts) {
  KlGrid grid;
  for (const auto& [name, policy] : parse_policies(o)) {
    for (const double mib : o.megabytes) {
      const eval::BoughtCache bought = eval::buy_cache(shape, policy, o.cache.options, mib, texts, o.kl);
      const MemoryPlan& plan = bought.plan;
      const std::string types = row_types_name(plan.key_type, plan.value_type);
      add_row(grid, o, {name, plan.budget, {}, types, plan.bytes()}, policy, bought.cache);
    }
  }
  return grid;
}

class KlRun {
 public:
  KlRun(const KlFlags& o, std::shared_ptr<const Model> model, KlGrid grid, std::vector<eval::Text> texts)
      : o_(o),
        model_(std::move(model)),
        grid_(std::move(grid)),
        texts_(std::move(texts)),
        measured_{grid_.rows, eval::noise_floor_rows(o.kl)} {
    if (!o.out.empty()) file_.emplace(o.out);
  }

  // False when it was interrupted.
  bool run() {
    return measure_grid(grid_, model_, texts_, o_.kl, 0, [&](const KlMeasured& text) {
      measured_.add(text);
      if (file_) write_lines(text);
    });
  }

  void report(bool complete) const {
    if (o_.json) {
      print_json(summary(complete), 2);
      return;
    }
    const std::string until = complete ? "" : "Ended early: the texts until then.\n";
    const bool any = !measured_.floors.front().texts.empty();
    write_output(until +
                 (any ? "\n" + eval::kl_table(measured_.rows, measured_.floors) : "No text was finished.\n"));
  }

 private:
  void write_lines(const KlMeasured& text) {
    for (const eval::KlRow& floor : text.floors) add_line(eval::text_json(floor, floor.texts.front(), 0));
    for (size_t r = 0; r < text.rows.size(); ++r) {
      const eval::KlRow& row = text.rows[r];
      for (size_t i = 0; i < row.texts.size(); ++i)
        add_line(eval::text_json(row, row.texts[i], grid_.cells[r][i].seed));
    }
    file_->set(lines_);
  }

  void add_line(nlohmann::json line) {
    line["model"] = model_->shape().fingerprint;
    line["build"] = build_id();
    lines_ += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  nlohmann::json summary(bool complete) const {
    nlohmann::json rows = nlohmann::json::array(), floors = nlohmann::json::array();
    for (size_t r = 0; r < grid_.cells.size(); ++r) {
      rows.push_back(eval::summary_json(measured_.rows[r]));
      rows.back()["seeds"] = grid_.cells[r].size();
    }
    for (const eval::KlRow& row : measured_.floors) floors.push_back(eval::summary_json(row));
    return {{"complete", complete},
            {"rows", rows},
            {"noise_floors", floors},
            {"evict_seed", o_.first_seed},
            {"model", model_->shape().fingerprint},
            {"build", build_id()}};
  }

  const KlFlags& o_;
  std::shared_ptr<const Model> model_;
  KlGrid grid_;
  std::vector<eval::Text> texts_;
  KlMeasured measured_;
  std::optional<GrowingFile> file_;
  std::string lines_;  // all of the file
};

void refuse_same_files(const KlFlags& o) {
  o.texts.refuse_twice();
  std::vector<std::pair<std::string, std::string>> taken = o.texts.inputs(o.model);
  if (o.preset.given()) taken.emplace_back("--preset", o.preset.path());
  refuse_overwriting("--out", o.out, taken);
}

}  // namespace

int eval_kl_command(const Arguments& arguments) {
  KlFlags o;
  CLI::App app("KL divergence of policies from the full cache, over given texts.", "eval kl");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  if (o.policies.empty()) o.policies = {o.cache.policy};
  o.preset.read(app, o.cache);
  o.cache.settle_types(!o.megabytes.empty());
  if (o.preset.given()) o.budgets = {o.cache.options.budget};
  if (o.budgets.empty() && o.megabytes.empty()) o.budgets = {128};
  parse_policies(o);  // before anything is loaded
  KlGrid grid = make_grid(o);
  refuse_same_files(o);
  watch_interrupts();
  const std::shared_ptr<const Model> model = Model::load(o.model);
  o.preset.check(model->shape());
  std::vector<eval::Text> texts = o.texts.read(*model);
  if (!o.megabytes.empty()) grid = buy_grid(o, model->shape(), texts);
  // What would fail at some text or row of the table fails before the first.
  require_memory_for(grid, *model, texts, o.kl, "Give a smaller --kv-budget or fewer --tokens");
  KlRun run(o, model, std::move(grid), std::move(texts));
  defer_interrupts();
  const bool complete = run_and_report([&] { return run.run(); }, [&](bool whole) { run.report(whole); });
  return complete ? kExitOk : kExitInterrupted;
}

}  // namespace vase::cli
