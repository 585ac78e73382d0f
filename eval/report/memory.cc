#include "eval/report/memory.h"

#include <algorithm>
#include <optional>

#include "eval/report/setting.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

// How many slots a text of a cell takes.
struct Slots {
  bool grows = false;
  bool dense = false;  // the whole prompt is stored first
  int64_t budget = 0, period = 0;

  int64_t most(int64_t prompt) const { return (dense ? std::max(budget, prompt) : budget) + period; }
  int64_t of(const Result& r) const {
    const int64_t seen = int64_t(r.prompt_tokens) + r.generated_tokens - 1;  // the last token is never put in
    return grows ? seen : std::min(seen, most(r.prompt_tokens));
  }
};

// A policy that reads keeps everything.
bool reads(const ResultSet& set, const SummaryRow& row) {
  for (const json& cell : set.config["config"]["cells"]) {
    if (cell["policy"] != row.policy || cell["budget"] != row.budget || !cell.contains("parts")) continue;
    return cell["parts"].is_string() && cell["parts"].get<std::string>().find("read=") != std::string::npos;
  }
  return false;
}

Slots slots_of(const Cell& cell) {
  const int64_t period = number_setting(*cell.set, "/cache/period", 0);
  return {.grows = cell.row->budget == 0 || reads(*cell.set, *cell.row),
          .dense = setting(*cell.set, "/cache/prefill") == "dense",
          .budget = cell.row->budget,
          .period = period > 0 ? period : number_setting(*cell.set, "/cache/buffer", 0)};
}

// Bytes lie on a line over slots, so two texts of different lengths tell it; one alone tells the bytes per
// slot. Empty when no text has recorded its memory.
std::optional<MemoryLine> line_of(const Cell& cell, const std::vector<const Result*>& results) {
  const Slots slots = slots_of(cell);
  const auto taken = [&](const Result* r) { return slots.of(*r); };
  const Result* least = *std::ranges::min_element(results, {}, taken);
  const Result* most = *std::ranges::max_element(results, {}, taken);
  if (most->kv_bytes == 0 || taken(most) <= 0) return std::nullopt;
  const auto bytes = static_cast<double>(most->kv_bytes), count = static_cast<double>(taken(most));
  const auto fewer = static_cast<double>(taken(least));
  int64_t prompt = 0;
  for (const Result* r : results) prompt = std::max<int64_t>(prompt, r->prompt_tokens);
  MemoryLine line{.policy = cell.row->policy,
                  .budget = cell.row->budget,
                  .slot_bytes = bytes / count,
                  .slots = slots.grows ? 0 : slots.most(prompt),
                  .most_bytes = most->kv_bytes};
  if (fewer < count) {
    line.slot_bytes = (bytes - static_cast<double>(least->kv_bytes)) / (count - fewer);
    line.fixed_bytes = bytes - line.slot_bytes * count;
  }
  return line;
}

// The same rows, whatever the task.
std::string rows_of(const ResultSet& set) {
  std::string text =
      setting(set, "/cache/key_type") + " keys, " + setting(set, "/cache/value_type") + " values";
  if (setting(set, "/cache/prefill") == "dense") text += ", whole prompt stored first";
  return text;
}

MemoryGroup& group_of(std::vector<MemoryGroup>& groups, const ResultSet& set) {
  const std::string model = setting(set, "model"), rows = rows_of(set);
  const auto found =
      std::ranges::find_if(groups, [&](const MemoryGroup& g) { return g.model == model && g.rows == rows; });
  if (found != groups.end()) return *found;
  return groups.emplace_back(MemoryGroup{.model = model, .rows = rows, .lines = {}});
}

void add_lengths(MemoryGroup& group, const ResultSet& set, const std::vector<const Result*>& results) {
  const int64_t most = number_setting(set, "max_tokens", 0),
                context = number_setting(set, "/cache/context", 0);
  for (const Result* r : results) {
    const int64_t length = int64_t(r->prompt_tokens) + r->generated_tokens;
    const int64_t limit = context > 0 ? std::min(context, r->prompt_tokens + most) : r->prompt_tokens + most;
    group.longest = std::max(group.longest, length);
    group.allowed = std::max({group.allowed, length, limit});
  }
}

// A policy on several tasks, or in several folders with other periods, counts with the most that it takes.
void add_line(MemoryGroup& group, const MemoryLine& line) {
  const auto same = std::ranges::find_if(group.lines, [&](const MemoryLine& other) {
    return other.policy == line.policy && other.budget == line.budget;
  });
  if (same == group.lines.end()) {
    group.lines.push_back(line);
  } else if (same->most_bytes < line.most_bytes) {
    *same = line;
  }
}

}  // namespace

double MemoryLine::bytes_at(double tokens) const {
  return fixed_bytes + slot_bytes * (slots > 0 ? std::min(tokens, static_cast<double>(slots)) : tokens);
}

const MemoryLine* MemoryGroup::full() const {
  const auto found = std::ranges::find_if(lines, is_full, &MemoryLine::policy);
  return found == lines.end() ? nullptr : &*found;
}

std::vector<MemoryGroup> memory_groups_of(const std::vector<ResultSet>& sets,
                                          const std::vector<SummaryRow>& rows) {
  std::vector<MemoryGroup> groups;
  for (const SummaryRow& row : rows) {
    const Cell cell{&row, &*std::ranges::find(sets, row.set, &ResultSet::name)};
    const std::vector<const Result*> results = cell.results();
    const std::optional<MemoryLine> line = line_of(cell, results);
    if (!line) continue;
    MemoryGroup& group = group_of(groups, *cell.set);
    add_line(group, *line);
    add_lengths(group, *cell.set, results);
  }
  return groups;
}

}  // namespace vase::eval::report
