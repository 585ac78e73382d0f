#include "eval/run/merge.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "eval/json_text.h"
#include "eval/require_regular.h"
#include "eval/run/config.h"
#include "eval/run/folder_results.h"
#include "eval/run/record.h"
#include "eval/run/results_file.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

// Where a line is: texts of all folders together may be more than memory holds.
struct Place {
  size_t folder = 0;
  std::string where;
  uint64_t offset = 0, bytes = 0;
};

class Lines {
 public:
  explicit Lines(std::span<const std::string> folders) {
    for (const std::string& folder : folders) {
      require_regular(path(folder));
      files_.emplace_back(path(folder), std::ios::binary);
    }
  }
  static std::string path(const std::string& folder) { return folder + "/" + kResultsName; }

  std::string read(const Place& place) {
    std::ifstream& in = files_[place.folder];
    std::string line(place.bytes, '\0');
    in.clear();
    in.seekg(static_cast<std::streamoff>(place.offset));
    if (!in.read(line.data(), static_cast<std::streamsize>(line.size()))) {
      throw Error(ErrorCode::kCorrupt, place.where + ": the file was changed while it was read");
    }
    return line;
  }

 private:
  std::vector<std::ifstream> files_;
};

// Each once. A shard's own command would pass for that of the whole.
void set_commands(json& config, const std::vector<json>& commands) {
  if (commands.size() < 2) return;
  config.erase("command");
  config["commands"] = commands;
}

}  // namespace

Merged merge_results(std::span<const std::string> folders,
                     const std::function<void(std::string_view line)>& write) {
  Merged merged;
  Lines lines(folders);
  std::map<Item::Key, Place> places;
  std::vector<json> commands;
  for (size_t f = 0; f < folders.size(); ++f) {
    const json config = read_config(folders[f]);
    if (f == 0) merged.config = config;
    require_same_config(merged.config, folders[0], config, folders[f]);
    for (const json& command : commands_of(config)) {
      if (std::ranges::find(commands, command) == commands.end()) commands.push_back(command);
    }
    FolderResults own(config);
    const std::string path = Lines::path(folders[f]);
    const uint64_t whole = read_results(path, [&](const ResultsLine& line) {
      const Result result = read_result(line.json, line.where);
      own.add(result, line.where);
      const Place place{f, line.where, line.offset, line.bytes};
      const auto [first, is_new] = places.emplace(result.item.key(), place);
      if (is_new) return;
      ++merged.repeated;
      if (without_timing(parse_json(lines.read(first->second))) == without_timing(line.json)) return;
      throw Error(ErrorCode::kUsage, line.where + " and " + first->second.where +
                                         " have different results for " + result.item.text() +
                                         "; they are not of the same run: leave one of the folders out");
    });
    std::error_code unknown;
    if (const uint64_t there = std::filesystem::file_size(path, unknown); !unknown && there > whole)
      merged.torn.push_back(path);
  }
  for (const auto& [key, place] : places) write(lines.read(place));
  set_commands(merged.config, commands);
  merged.results = static_cast<int64_t>(places.size());
  return merged;
}

}  // namespace vase::eval
