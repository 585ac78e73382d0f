#include "eval/retention_map.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vase::eval {
namespace {

// Of one head, by growing number of tokens seen.
using HeadRecords = std::vector<const EvictionRecord*>;

std::vector<HeadRecords> by_head(std::span<const EvictionRecord> records) {
  std::map<std::pair<int, int>, HeadRecords> heads;
  for (const EvictionRecord& r : records) heads[{r.layer, r.kv_head}].push_back(&r);
  std::vector<HeadRecords> all;
  for (auto& [head, own] : heads) {
    std::ranges::sort(own, {}, &EvictionRecord::seen);
    all.push_back(std::move(own));
  }
  return all;
}

class Counter {
 public:
  Counter(const RetentionMap& map, size_t columns) : map_(map), held_(columns) {}

  // Counts what a head holds when `seen` tokens have been seen.
  void add(const HeadRecords& head, int64_t seen) {
    const auto later = std::ranges::upper_bound(head, seen, {}, &EvictionRecord::seen);
    if (later == head.begin()) return add_range(0, seen);
    const EvictionRecord& last = **(later - 1);
    for (const int32_t position : last.kept) held_[column_of(position)] += 1;
    add_range(last.seen, seen);
  }

  std::vector<std::optional<double>> shares(int64_t seen) const {
    std::vector<std::optional<double>> shares(held_.size());
    for (size_t c = 0; c < held_.size(); ++c) {
      const int64_t positions = std::min(end(c), seen) - begin(c);
      if (positions > 0)
        shares[c] = static_cast<double>(held_[c]) / static_cast<double>(positions * map_.heads);
    }
    return shares;
  }

 private:
  int64_t end(size_t column) const { return map_.end_of(column, held_.size()); }
  int64_t begin(size_t column) const { return column == 0 ? 0 : end(column - 1); }
  // The only one that begins at or before the position and ends behind it.
  size_t column_of(int64_t position) const {
    return static_cast<size_t>(((position + 1) * static_cast<int64_t>(held_.size()) - 1) / map_.tokens);
  }

  void add_range(int64_t first, int64_t end_position) {
    for (size_t c = 0; c < held_.size(); ++c)
      held_[c] += std::max<int64_t>(0, std::min(end(c), end_position) - std::max(begin(c), first));
  }

  const RetentionMap& map_;
  std::vector<int64_t> held_;  // [columns] positions, summed over heads
};

}  // namespace

RetentionMap retention_map(std::span<const EvictionRecord> records, size_t rows, size_t columns) {
  const std::vector<HeadRecords> heads = by_head(records);
  RetentionMap map{.tokens = std::ranges::max(records, {}, &EvictionRecord::seen).seen,
                   .prompt_tokens = records.front().prompt_tokens,
                   .heads = static_cast<int>(heads.size()),
                   .shares = {}};
  const auto most = static_cast<size_t>(map.tokens);
  rows = std::min(rows, most);
  columns = std::min(columns, most);
  for (size_t r = 0; r < rows; ++r) {
    const int64_t seen = map.end_of(r, rows);
    Counter counter(map, columns);
    for (const HeadRecords& head : heads) counter.add(head, seen);
    map.shares.push_back(counter.shares(seen));
  }
  return map;
}

}  // namespace vase::eval
