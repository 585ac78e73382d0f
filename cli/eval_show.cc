// `vase eval show`: the table of results that are there.
#include <filesystem>
#include <set>

#include "eval/printable.h"
#include "eval_report.h"
#include "flags.h"
#include "json_output.h"
#include "vase/error.h"

namespace vase::cli {

using nlohmann::json;

json results_json(std::span<const eval::ResultSet> sets) {
  json rows = json::array(), folders = json::array();
  for (const eval::SummaryRow& row : eval::summarise(sets)) rows.push_back(eval::summary_json(row));
  for (const eval::ResultSet& set : sets) {
    folders.push_back({{"folder", set.name},
                       {"texts", set.results.size()},
                       {"expected", set.expected()},
                       {"complete", set.complete()},
                       {"hash", set.config["hash"]},
                       {"config", set.config["config"]}});
  }
  return {{"rows", rows}, {"folders", folders}};
}

void print_results(std::span<const eval::ResultSet> sets, bool as_json) {
  if (as_json) {
    print_json(results_json(sets), 2);
    return;
  }
  std::string text;
  for (const eval::ResultSet& set : sets) {
    if (set.complete()) continue;
    text += eval::printable(set.name) + " holds " + std::to_string(set.results.size()) + " of " +
            std::to_string(set.expected()) + " texts.\n";
  }
  if (!text.empty()) text += "\n";
  write_output(text + eval::summary_table(eval::summarise(sets)));
}

int eval_show_command(const Arguments& arguments) {
  std::vector<std::string> folders;
  bool as_json = false;
  CLI::App app("Prints the table of results that `vase eval run` has left, finished or not.", "eval show");
  app.add_option("folder", folders, "of `vase eval run --out`; several are shown in one table")
      ->required()
      ->type_name("");
  app.add_flag("--json", as_json, "print JSON, with the configuration of each folder");
  if (!parse(app, arguments)) return kExitOk;
  std::vector<eval::ResultSet> sets;
  std::set<std::filesystem::path> taken;
  for (const std::string& folder : folders) {
    std::error_code missing;  // read_result_set() tells of it
    if (!taken.insert(std::filesystem::canonical(folder, missing)).second && !missing)
      throw Error(ErrorCode::kUsage, "the folder " + folder + " is given twice; give it once");
    sets.push_back(eval::read_result_set(folder));
  }
  print_results(sets, as_json);
  return kExitOk;
}

}  // namespace vase::cli
