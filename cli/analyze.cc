// `vase analyze`: what evictions left behind, and what they had to choose from.
#include "analysis_output.h"
#include "commands.h"
#include "eval/eviction_log.h"
#include "eval/report/analysis.h"
#include "flags.h"
#include "json_output.h"
#include "select_report.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using nlohmann::json;
using eval::RetentionRow;

constexpr size_t kMapRows = 60, kMapColumns = 120;  // what can be told apart, in some 100 KB at most

json report(const std::vector<RetentionRow>& rows) {
  json all = json::array(), layers = json::array(), periods = json::array();
  for (const RetentionRow& row : rows) {
    all.push_back(retention_json(row.retention));
    all.back().update({{"eviction", row.eviction}, {"layer", row.layer}, {"seen", row.seen}});
  }
  for (const eval::LayerRetention& one : eval::layers_of(rows)) {
    layers.push_back(retention_json(one.mean));
    layers.back()["layer"] = one.layer;
  }
  for (const eval::RetentionPeriod& p : eval::periods_of(rows)) {
    periods.push_back(retention_json(p.mean));
    periods.back().update({{"first_eviction", p.first}, {"last_eviction", p.last}, {"seen", p.seen}});
  }
  return {{"rows", all},
          {"layers", layers},
          {"periods", periods},
          {"mean", retention_json(eval::mean_retention(rows))},
          {"build", build_id()}};
}

// Its errors do not know the file.
std::vector<RetentionRow> rows_of(const std::vector<EvictionRecord>& records, const std::string& log) {
  try {
    return eval::retention_of(records);
  } catch (const Error& e) {
    throw Error(e.code(), log + ": " + e.what());
  }
}

int retention_command(const Arguments& arguments) {
  std::string log;
  AnalysisOutput output;
  CLI::App app("What the heads of each layer held after their evictions, from a log of `vase run --log-evictions`.",
               "analyze retention");
  add_path(app, "--log", log, "JSON lines of `vase run --log-evictions`");
  app.get_option("--log")->required();
  output.add_flags(app);
  if (!parse(app, arguments)) return kExitOk;
  output.open({{"--log", log}});
  const std::vector<EvictionRecord> records = eval::read_eviction_log(log);
  const std::vector<RetentionRow> rows = rows_of(records, log);
  const auto page = [&] {
    const eval::RetentionMap map = eval::retention_map(records, kMapRows, kMapColumns);
    return eval::report::retention_page(rows, map, output.foot("analyze retention"));
  };
  output.write(page, [&] { return report(rows); });
  return kExitOk;
}

}  // namespace

int analyze_command(const Arguments& arguments) {
  return run_subcommand("analyze",
                        {{"retention", "what heads hold after their evictions", retention_command},
                         {"attention", "how much attention falls on what policies hold", analyze_attention_command},
                         {"values", "how far values spread, and which tokens lie far out", analyze_values_command},
                         {"quant", "how well values go into few bits", analyze_quant_command}},
                        arguments);
}

}  // namespace vase::cli
