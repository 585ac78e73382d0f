#include "eval/run/folder_results.h"

#include <utility>

#include "eval/require_regular.h"
#include "eval/run/hash.h"
#include "eval/run/results_file.h"
#include "vase/error.h"

namespace vase::eval {

using nlohmann::json;

namespace {

template <typename T>
std::optional<T> whole_number_if_any(const json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_number_integer() ? std::optional(found->get<T>()) : std::nullopt;
}

}  // namespace

FolderResults::FolderResults(const json& config) {
  for (const json& task : config["config"]["tasks"]) {
    for (const json& cell : config["config"]["cells"]) {
      asked_.emplace(task["name"].get<std::string>(), cell["policy"].get<std::string>(),
                     cell["budget"].get<int>());
    }
  }
  samples_ = whole_number_if_any<int64_t>(config["config"], "samples");
  runs_ = whole_number_if_any<int64_t>(config["config"], "seeds");
  seed_ = whole_number_if_any<uint64_t>(config["config"], "seed");
  evict_seed_ = whole_number_if_any<uint64_t>(config["config"], "evict_seed");
}

bool FolderResults::has_place_for(const Item& item) const {
  if (samples_ && item.sample >= *samples_) return false;
  if (runs_ && item.run >= (item.budget > 0 ? *runs_ : 1)) return false;  // without a budget nothing is evicted
  const auto derived = [&](uint64_t base, const char* purpose) {
    return derived_seed(base, purpose, item.task, item.problem_id, item.sample);
  };
  if (seed_ && item.seed != derived(*seed_, "text")) return false;
  return !evict_seed_ || item.evict_seed == derived(*evict_seed_ + static_cast<uint64_t>(item.run), "evictions");
}

uint64_t FolderResults::read(const std::string& path) {
  require_regular(path);
  return read_results(
      path, [this](const ResultsLine& line) { add(read_result(line.json, line.where), line.where); });
}

void FolderResults::add(Result result, const std::string& where) {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorCode::kCorrupt, where + ": " + result.item.text() + why + kMendResults);
  };
  if (!asked_.contains({result.item.task, result.item.policy, result.item.budget}) || !has_place_for(result.item))
    refuse(" is not what the configuration of its folder asks for: ");
  if (!keys_.insert(result.item.key()).second) refuse(" comes twice: ");
  list_.push_back(std::move(result));
}

}  // namespace vase::eval
