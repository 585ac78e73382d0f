#include "eval/run/folder_results.h"

#include <utility>

#include "eval/run/results_file.h"
#include "vase/error.h"

namespace vase::eval {

using nlohmann::json;

FolderResults::FolderResults(const json& config) {
  for (const json& task : config["config"]["tasks"]) {
    for (const json& cell : config["config"]["cells"]) {
      asked_.emplace(task["name"].get<std::string>(), cell["policy"].get<std::string>(),
                     cell["budget"].get<int>());
    }
  }
}

uint64_t FolderResults::read(const std::string& path) {
  return read_results(
      path, [this](const ResultsLine& line) { add(read_result(line.json, line.where), line.where); });
}

void FolderResults::add(Result result, const std::string& where) {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorCode::kCorrupt, where + ": " + result.item.text() + why + kMendResults);
  };
  if (!asked_.contains({result.item.task, result.item.policy, result.item.budget}))
    refuse(" is not what the configuration of its folder asks for: ");
  if (!keys_.insert(result.item.key()).second) refuse(" comes twice: ");
  list_.push_back(std::move(result));
}

}  // namespace vase::eval
