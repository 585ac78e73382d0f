// `vase tune`: on texts of the user's, the best cache in given megabytes, or the smallest budget at which a
// policy stays near its full cache.
#include <algorithm>

#include "commands.h"
#include "eval/or_null.h"
#include "interrupt.h"
#include "json_output.h"
#include "output.h"
#include "run_and_report.h"
#include "tune_bytes_output.h"
#include "tune_run.h"

namespace vase::cli {
namespace {

using nlohmann::json;

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
  std::string text = complete ? "" : "Ended early: what was measured until then.\n";
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
  return text + "\n" + eval::kl_table(rows, run.floors()) +
         "All budgets of a policy count the same positions of each text: those after the first eviction of its smallest "
         "budget.\n";
}

json summary(const TuneOptions& o, const TuneRun& run, bool complete) {
  json policies = json::array(), floors = json::array();
  for (const Tuned& tuned : run.tuned()) {
    json measured = json::array();
    for (const eval::KlRow& row : tuned.rows) {
      measured.push_back(eval::summary_json(row));
      measured.back()["seeds"] = eval::seeds_of(tuned.policy, o.seeds);
    }
    policies.push_back({{"policy", tuned.name},
                        {"budget", eval::or_null(tuned.budget)},
                        {"smallest", tuned.range.lowest},
                        {"largest", tuned.range.highest},
                        {"step", tuned.range.step},
                        {"measured", measured}});
  }
  for (const eval::KlRow& row : run.floors()) floors.push_back(eval::summary_json(row));
  return {{"complete", complete}, {"target_kl", o.target},  {"evict_seed", o.first_seed},
          {"policies", policies}, {"noise_floors", floors}, {"model", run.model().shape().fingerprint},
          {"build", build_id()}};
}

int search(const TuneOptions& o, std::shared_ptr<const Model> model) {
  TuneRun run(o, std::move(model));
  defer_interrupts();
  const auto show = [&](bool complete) {
    o.json ? print_json(summary(o, run, complete), 2) : write_output(report(run, o.target, complete));
  };
  if (!run_and_report([&] { return run.run(); }, show)) return kExitInterrupted;
  const bool found =
      std::ranges::all_of(run.tuned(), [](const Tuned& tuned) { return tuned.budget.has_value(); });
  return found ? kExitOk : kExitFailure;
}

int compare(const TuneOptions& o, std::shared_ptr<const Model> model) {
  BytesOutput output(o);
  BytesRun run(o, std::move(model));
  defer_interrupts();
  const bool complete =
      run_and_report([&] { return run.run(); }, [&](bool whole) { output.write(run, whole); });
  return complete ? kExitOk : kExitInterrupted;
}

}  // namespace

int tune_command(const Arguments& arguments) {
  const std::optional<TuneOptions> o = TuneOptions::parse(arguments);
  if (!o) return kExitOk;
  watch_interrupts();
  return o->budget_mib > 0 ? compare(*o, Model::load(o->model)) : search(*o, Model::load(o->model));
}

}  // namespace vase::cli
