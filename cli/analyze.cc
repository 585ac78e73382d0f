// `vase analyze`: what evictions left behind.
#include <algorithm>
#include <map>

#include "commands.h"
#include "eval/eviction_log.h"
#include "eval/retention.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "select_report.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using nlohmann::json;
using eval::RetentionRow;

constexpr size_t kPeriods = 10;  // rows of the table over time

std::string cell(const std::optional<double>& value) { return value ? formatted("%.3f", *value) : "-"; }

std::string line(const std::string& name, const eval::Retention& m) {
  return formatted("%-22s %8.3f %10s %10s %14s %16s\n", name.c_str(), m.union_share, cell(m.coverage_entropy).c_str(),
                   cell(m.overlap).c_str(), cell(m.prompt_union).c_str(), cell(m.prompt_mean).c_str());
}

std::string header(const std::string& name) {
  return formatted("%-22s %8s %10s %10s %14s %16s\n", name.c_str(), "union", "coverage", "overlap", "prompt, union",
                   "prompt, per head");
}

std::vector<std::pair<int, eval::Retention>> by_layer(const std::vector<RetentionRow>& rows) {
  std::map<int, std::vector<RetentionRow>> layers;
  for (const RetentionRow& row : rows) layers[row.layer].push_back(row);
  std::vector<std::pair<int, eval::Retention>> means;
  for (const auto& [layer, own] : layers) means.emplace_back(layer, eval::mean_retention(own));
  return means;
}

struct Period {
  int64_t first = 0, last = 0;  // evictions
  int64_t seen = 0;             // tokens seen at the last
  eval::Retention mean;
};

// Evictions in up to kPeriods parts of equal length. rows are in the order of evictions.
std::vector<Period> over_time(const std::vector<RetentionRow>& rows) {
  std::vector<std::vector<RetentionRow>> evictions;
  for (const RetentionRow& row : rows) {
    if (evictions.empty() || evictions.back().back().eviction != row.eviction) evictions.emplace_back();
    evictions.back().push_back(row);
  }
  std::vector<Period> periods;
  const size_t count = std::min(kPeriods, evictions.size());
  for (size_t p = 0; p < count; ++p) {
    std::vector<RetentionRow> part;
    for (size_t e = p * evictions.size() / count; e < (p + 1) * evictions.size() / count; ++e) {
      part.insert(part.end(), evictions[e].begin(), evictions[e].end());
    }
    periods.push_back({part.front().eviction, part.back().eviction, part.back().seen, eval::mean_retention(part)});
  }
  return periods;
}

std::string table(const std::vector<RetentionRow>& rows) {
  std::string text = formatted("%zu layers, %lld evictions, means over evictions and layers\n\n", by_layer(rows).size(),
                               static_cast<long long>(rows.back().eviction - rows.front().eviction + 1));
  text += header("layer");
  for (const auto& [layer, mean] : by_layer(rows)) text += line(std::to_string(layer), mean);
  text += line("all", eval::mean_retention(rows)) + "\n" + header("evictions, seen");
  for (const Period& p : over_time(rows)) {
    const std::string evictions = std::to_string(p.first) + (p.last == p.first ? "" : "-" + std::to_string(p.last));
    text += line(evictions + ", " + std::to_string(p.seen), p.mean);
  }
  return text;
}

json report(const std::vector<RetentionRow>& rows) {
  json all = json::array(), layers = json::array(), periods = json::array();
  for (const RetentionRow& row : rows) {
    all.push_back(retention_json(row.retention));
    all.back().update({{"eviction", row.eviction}, {"layer", row.layer}, {"seen", row.seen}});
  }
  for (const auto& [layer, mean] : by_layer(rows)) {
    layers.push_back(retention_json(mean));
    layers.back()["layer"] = layer;
  }
  for (const Period& p : over_time(rows)) {
    periods.push_back(retention_json(p.mean));
    periods.back().update({{"first_eviction", p.first}, {"last_eviction", p.last}, {"seen", p.seen}});
  }
  return {{"rows", all},
          {"layers", layers},
          {"periods", periods},
          {"mean", retention_json(eval::mean_retention(rows))},
          {"build", build_id()}};
}

int retention_command(const Arguments& arguments) {
  std::string log;
  bool as_json = false;
  CLI::App app("What the heads of each layer held after their evictions, from a log of `vase run --log-evictions`.",
               "analyze retention");
  add_path(app, "--log", log, "JSON lines of `vase run --log-evictions`");
  app.get_option("--log")->required();
  app.add_flag("--json", as_json, "print JSON, with a row per eviction and layer");
  app.footer(
      "union     different positions kept by any head / candidates of one head\n"
      "coverage  evenness of the kept positions behind the prompt: entropy over 64 bins / ln 64\n"
      "overlap   mean over pairs of heads of shared / united kept positions\n"
      "prompt    share of the prompt kept: by any head, by one head on average");
  if (!parse(app, arguments)) return kExitOk;
  const std::vector<RetentionRow> rows = eval::retention_of(eval::read_eviction_log(log));
  as_json ? print_json(report(rows), 2) : write_output(table(rows));
  return kExitOk;
}

}  // namespace

int analyze_command(const Arguments& arguments) {
  return run_subcommand("analyze",
                        {{"retention", "what heads hold after their evictions", retention_command},
                         {"values", "how far values spread, and which tokens lie far out", analyze_values_command},
                         {"quant", "how well values go into few bits", analyze_quant_command}},
                        arguments);
}

}  // namespace vase::cli
