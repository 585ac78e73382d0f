// `vase tune`: the smallest budget at which a policy stays near its full cache, on texts of the user's.
#include <algorithm>

#include "commands.h"
#include "interrupt.h"
#include "json_output.h"
#include "output.h"
#include "tune_run.h"

namespace vase::cli {
namespace {

using nlohmann::json;

void add_flags(CLI::App& app, TuneOptions& o) {
  add_path(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  o.texts.add(app);
  add_call(
      app, "--target-kl",
      [&o](const std::string& text) { o.target = parse_number("--target-kl", text, 1e-6, 100); },
      "mean KL from the full cache that is near enough, in nats (0.05)");
  add_repeatable(app, "--policy", o.policies, "what to keep; repeatable (vase-attnv)");
  o.cache.add_slots(app);
  o.cache.add_timing(app);
  add_integer(app, "--step", o.step, 1, 1 << 20,
              "look at multiples of this alone (16; the buffer with --trigger parity)");
  add_integer(app, "--seeds", o.seeds, 1, 1000, "eviction seeds for every budget (1)");
  add_integer(app, "--evict-seed", o.first_seed, 0, 1 << 30, "the first of them (0)");
  add_integer(app, "--chunk", o.kl.chunk, 1, 4096,
              "tokens fed at a time (64); changes the time and nothing else");
  add_integer(app, "--threads", o.kl.threads, 1, 256, "one per physical core when absent");
  app.add_flag("--json", o.json, "print JSON");
}

std::string advice(const Tuned& tuned, double target) {
  const char* name = tuned.name.c_str();
  if (!tuned.budget) {
    return formatted(
        "%s: no budget up to %d comes to %g. Give longer texts, in which larger ones evict, or a larger "
        "--target-kl.\n",
        name, tuned.range.highest, target);
  }
  const double kl = eval::summarise(tuned.row_at(*tuned.budget)).kl;
  const bool least = *tuned.budget == tuned.range.lowest;
  return formatted("%s: --kv-budget %d, mean KL %.4f%s.\n", name, *tuned.budget, kl,
                   least ? "; no smaller one was tried" : "");
}

std::string report(const TuneRun& run, double target, bool complete) {
  std::string text = complete ? "" : "Interrupted: what was measured until then.\n";
  std::vector<eval::KlRow> rows;
  for (const Tuned& tuned : run.tuned()) {
    if (complete) text += advice(tuned, target);
    rows.insert(rows.end(), tuned.rows.begin(), tuned.rows.end());
  }
  const double floor = eval::noise_floor(run.floors());
  if (complete && target <= floor) {
    text +=
        formatted("The target is not above the noise floor of %.4f, so these budgets mean little.\n", floor);
  }
  return text + "\n" + eval::kl_table(rows, run.floors());
}

json summary(const TuneRun& run, double target, bool complete) {
  json policies = json::array(), floors = json::array();
  for (const Tuned& tuned : run.tuned()) {
    json measured = json::array();
    for (const eval::KlRow& row : tuned.rows) measured.push_back(eval::summary_json(row));
    policies.push_back({{"policy", tuned.name},
                        {"budget", tuned.budget ? json(*tuned.budget) : json(nullptr)},
                        {"smallest", tuned.range.lowest},
                        {"largest", tuned.range.highest},
                        {"step", tuned.range.step},
                        {"measured", measured}});
  }
  for (const eval::KlRow& row : run.floors()) floors.push_back(eval::summary_json(row));
  return {{"complete", complete},
          {"target_kl", target},
          {"policies", policies},
          {"noise_floors", floors},
          {"model", run.model().shape().fingerprint},
          {"build", build_id()}};
}

}  // namespace

int tune_command(const Arguments& arguments) {
  TuneOptions o;
  CLI::App app("The smallest budget at which a policy stays near its full cache, on texts of yours.", "tune");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  if (o.policies.empty()) o.policies = {o.cache.policy};
  o.texts.refuse_twice();
  watch_interrupts();
  TuneRun run(o, Model::load(o.model));
  defer_interrupts();
  const bool complete = run.run();
  o.json ? print_json(summary(run, o.target, complete), 2) : write_output(report(run, o.target, complete));
  if (!complete) return kExitInterrupted;
  const bool found =
      std::ranges::all_of(run.tuned(), [](const Tuned& tuned) { return tuned.budget.has_value(); });
  return found ? kExitOk : kExitFailure;
}

}  // namespace vase::cli
