#include "tune_bytes_output.h"

#include <filesystem>

#include "base/machine.h"
#include "eval/run/preset.h"
#include "json_output.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using nlohmann::json;

const Candidate& candidate_of(const BytesRun& run, const eval::RankedRow& ranked) {
  return run.candidates()[static_cast<size_t>(ranked.row - run.rows().data())];
}

std::string in_shell(const std::string& word) {
  return word.find(' ') == std::string::npos ? word : "'" + word + "'";
}

std::string advice(const TuneOptions& o, const eval::RankedRow& best) {
  return formatted(
      "Best in %g MiB on these texts: --kv-type %s --policy %s --kv-budget %d, mean KL %.4f, %.2f MiB.\n",
      o.budget_mib, best.row->kv_type.c_str(), in_shell(best.row->name).c_str(), best.row->budget,
      best.summary.kl, mib(best.row->bytes));
}

std::string report(const TuneOptions& o, const BytesRun& run, const std::vector<eval::RankedRow>& ranked,
                   bool complete) {
  std::string text = complete ? "" : "Ended early: the texts until then.\n";
  if (ranked.empty()) return text + "No text was finished.\n";
  if (complete) text += advice(o, ranked.front());
  text += "\n" + eval::ranking_table(ranked, run.floors(), run.counted_from());
  for (const NotMeasured& one : run.not_measured())
    text += "Not measured: " + one.kv_type + ", " + one.name + ": " + one.why + "\n";
  return text;
}

json summary(const TuneOptions& o, const BytesRun& run, const std::vector<eval::RankedRow>& ranked,
             bool complete) {
  json measured = json::array(), missing = json::array(), floors = json::array();
  for (const eval::RankedRow& one : ranked) {
    measured.push_back(eval::ranked_json(one));
    const Candidate& c = candidate_of(run, one);
    measured.back()["memory"] = memory_json(c.bought.plan);
    measured.back()["seeds"] = eval::seeds_of(c.policy, o.seeds);
  }
  for (const NotMeasured& one : run.not_measured())
    missing.push_back({{"policy", one.name}, {"kv_type", one.kv_type}, {"why", one.why}});
  for (const eval::KlRow& row : run.floors()) floors.push_back(eval::summary_json(row));
  return {{"complete", complete},
          {"budget_mb", o.budget_mib},
          {"counted_from", run.counted_from()},
          {"evict_seed", o.first_seed},
          {"measured", measured},
          {"not_measured", missing},
          {"noise_floors", floors},
          {"preset", complete && !o.preset_out.empty() ? json(o.preset_out) : json(nullptr)},
          {"model", run.model().shape().fingerprint},
          {"build", build_id()}};
}

eval::Preset preset_of(const TuneOptions& o, const BytesRun& run, const eval::RankedRow& best) {
  const Candidate& c = candidate_of(run, best);
  const eval::KlSummary& s = best.summary;
  const ModelShape& shape = run.model().shape();
  return {.model = shape.fingerprint,
          .model_name = shape.name,
          .build = build_id(),
          .name = c.name,
          .policy = c.policy.text(),
          .cache = c.bought.cache,
          .measured = {.kl = s.kl,
                       .kl_error = eval::known_error(s.kl_error, s.texts),
                       .noise_floor = eval::noise_floor(run.floors()),
                       .texts = s.texts,
                       .seeds = eval::seeds_of(c.policy, o.seeds),
                       .positions = s.positions,
                       .budget_mib = o.budget_mib,
                       .bytes = c.bought.plan.bytes(),
                       .threads = o.kl.threads > 0 ? o.kl.threads : physical_cores()}};
}

// A pipe or a device keeps nothing that could be lost.
void refuse_existing(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  throw Error(ErrorCode::kUsage,
              "--preset-out " + path + " is there already; give another name, or --overwrite to replace it");
}

}  // namespace

BytesOutput::BytesOutput(const TuneOptions& options) : o_(options) {
  if (o_.preset_out.empty()) return;
  if (!o_.overwrite) refuse_existing(o_.preset_out);
  preset_.emplace(o_.preset_out);
}

void BytesOutput::write(const BytesRun& run, bool complete) {
  const std::vector<eval::RankedRow> ranked = eval::rank_rows(run.rows(), eval::noise_floor(run.floors()));
  // First, since a file that cannot be written must not take what was measured with it.
  o_.json ? print_json(summary(o_, run, ranked, complete), 2)
          : write_output(report(o_, run, ranked, complete));
  if (!preset_ || !complete) return;
  if (!o_.overwrite) refuse_existing(o_.preset_out);  // another may have come while this one measured
  preset_->write(eval::preset_text(preset_of(o_, run, ranked.front())));
  preset_->commit();
  if (!o_.json) write_output("Written to " + o_.preset_out + ", for --preset.\n");
}

}  // namespace vase::cli
