#include <algorithm>
#include <map>

#include "eval/number_text.h"
#include "eval/report/memory.h"
#include "eval/report/names.h"
#include "eval/report/sections.h"

namespace vase::eval::report {
namespace {

constexpr double kMib = 1048576;
constexpr int kFirstHue = 2, kBudgetHues = kHues - kFirstHue;

constexpr const char* kTableNote =
    "KiB per slot: keys, values and what the policy keeps beside them, of one token in all layers and KV "
    "heads, as recorded. KiB besides: what does not grow with the text, such as newest tokens that are not "
    "quantised yet. slots: of a layer and KV head at most, the budget and one period between evictions "
    "(after a prompt that is stored whole, at least that). at most: slots times KiB per slot, and the rest. "
    "recorded: the most that a text has taken. of the full cache: at the length of the longest text that was "
    "generated.";

constexpr const char* kHowToRead =
    "what one sequence takes as its text grows: min(tokens, slots) times the recorded bytes per slot, and "
    "what does not grow. With a budget it rises like the full cache until the slots are there and never "
    "after that. The dotted line is the longest text of these runs; to the right of it the lines are the "
    "formula alone, up to the longest text that the runs allowed. Policies of one budget differ little; "
    "drawn is the one that takes most.";

std::vector<PlotPoint> points_of(const MemoryLine& line, double allowed) {
  std::vector<double> places = {0};
  if (line.slots > 0 && static_cast<double>(line.slots) < allowed)
    places.push_back(static_cast<double>(line.slots));
  places.push_back(allowed);
  std::vector<PlotPoint> points;
  for (const double x : places) {
    const double y = line.bytes_at(x) / kMib;
    points.push_back({x, y, y, y});
  }
  return points;
}

// The largest policy of each budget, by growing budget. Those whose cache grows are not among them.
std::vector<const MemoryLine*> by_budget(const MemoryGroup& group) {
  const auto allowed = static_cast<double>(group.allowed);
  std::map<int, const MemoryLine*> largest;
  for (const MemoryLine& line : group.lines) {
    if (line.slots == 0) continue;
    const MemoryLine*& one = largest[line.budget];
    if (!one || one->bytes_at(allowed) < line.bytes_at(allowed)) one = &line;
  }
  std::vector<const MemoryLine*> list;
  for (const auto& [budget, line] : largest) list.push_back(line);
  return list;
}

// What grows with the text: the full cache, or else the first policy that keeps everything.
const MemoryLine* rising(const MemoryGroup& group) {
  if (const MemoryLine* full = group.full()) return full;
  const auto found = std::ranges::find(group.lines, int64_t{0}, &MemoryLine::slots);
  return found == group.lines.end() ? nullptr : &*found;
}

Figure figure_of(const MemoryGroup& group, const std::string& title) {
  const auto allowed = static_cast<double>(group.allowed);
  LinePlot plot{.title = title,
                .x = linear_axis(allowed, "tokens, prompt included"),
                .y = {},
                .lines = {},
                .floor = {},
                .marks = {{static_cast<double>(group.longest), "longest text"}}};
  std::string how = kHowToRead;
  const std::vector<const MemoryLine*> budgets = by_budget(group);
  for (const MemoryLine* line : budgets) {
    if (plot.lines.size() + 1 == kMostLines) break;
    const int index = static_cast<int>(plot.lines.size());
    const Style style{kFirstHue + index % kBudgetHues, index / kBudgetHues % kDashes};
    plot.lines.push_back(
        {"budget " + std::to_string(line->budget), style, points_of(*line, allowed), false, false});
  }
  if (budgets.size() > plot.lines.size()) how += " Budgets beyond those drawn are in the table.";
  // Drawn over the others: they have their beginning in common with it.
  if (const MemoryLine* full = rising(group)) {
    plot.lines.push_back({full->policy, {}, points_of(*full, allowed), false, false});
  } else {
    how += " The full cache was not run, so its line is not known.";
  }
  double highest = 0;
  for (const PlotLine& line : plot.lines) highest = std::max(highest, line.points.back().y);
  plot.y = linear_axis(highest, "MiB of one sequence");
  return {plot.title, draw(plot), how};
}

void add_rows(Table& table, const MemoryGroup& group, const std::string& name) {
  const MemoryLine* full = group.full();
  const auto longest = static_cast<double>(group.longest);
  for (const MemoryLine& line : group.lines) {
    const std::string share =
        full ? number_text("%.1f %%", 100 * line.bytes_at(longest) / full->bytes_at(longest)) : "?";
    table.rows.push_back(
        {name, line.policy, line.budget > 0 ? std::to_string(line.budget) : "-",
         number_text("%.2f", line.slot_bytes / 1024), number_text("%.1f", line.fixed_bytes / 1024),
         line.slots > 0 ? std::to_string(line.slots) : "all",
         line.slots > 0 ? number_text("%.2f", line.bytes_at(static_cast<double>(line.slots)) / kMib)
                        : "grows",
         number_text("%.2f", static_cast<double>(line.most_bytes) / kMib), share});
  }
}

}  // namespace

Section memory_section(const Material& material) {
  Section section{"Memory", {}};
  Table table{.title = "Memory of one sequence",
              .columns = {"model", "policy", "budget", "KiB per slot", "KiB besides", "slots", "at most, MiB",
                          "recorded, MiB", "of the full cache"},
              .rows = {},
              .note = kTableNote,
              .names = 2};
  for (const MemoryGroup& group : memory_groups_of(material.input.sets, material.rows)) {
    const std::string name = model_title(material, group.model) + ", " + group.rows;
    section.blocks.push_back(figure_of(group, "Memory against length: " + name));
    add_rows(table, group, name);
  }
  if (!table.rows.empty()) section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace vase::eval::report
