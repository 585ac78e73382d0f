// What results.jsonl of a folder holds: every result once, and none that its configuration does not ask for.
// A folder with others would count wrong, and seem complete before it is.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "eval/run/record.h"

namespace vase::eval {

class FolderResults {
 public:
  // config: as read_config() gives it.
  explicit FolderResults(const nlohmann::json& config);

  // Adds all whole lines of the file; returns the bytes that these take. Throws Error as read_results(),
  // read_result() and add().
  uint64_t read(const std::string& path);
  // Throws Error(kCorrupt), "<where>: ...", for a result that is there already or that nobody has asked for.
  void add(Result result, const std::string& where);

  bool has(const Item& item) const { return keys_.contains(item.key()); }
  const std::vector<Result>& list() const { return list_; }

 private:
  using Cell = std::tuple<std::string, std::string, int>;  // task, policy, budget

  // Whether run, sample and seeds are what the configuration makes of this problem. A problem's id is in its seeds, so
  // another id is seen without the problems. A policy that draws nothing has fewer runs than this allows.
  bool has_place_for(const Item& item) const;

  std::set<Cell> asked_;
  // Of the configuration; what it does not say is not looked at.
  std::optional<int64_t> samples_, runs_;
  std::optional<uint64_t> seed_, evict_seed_;
  std::set<Item::Key> keys_;
  std::vector<Result> list_;
};

}  // namespace vase::eval
