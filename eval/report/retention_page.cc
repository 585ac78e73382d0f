#include <algorithm>
#include <map>

#include "eval/number_text.h"
#include "eval/report/analysis.h"
#include "eval/report/heat_figure.h"
#include "eval/report/layer_lines.h"

namespace vase::eval::report {
namespace {

constexpr const char* kNote =
    "Union: different positions kept by any head / candidates of one head. Coverage: evenness of the kept positions "
    "behind the prompt, entropy over 64 bins / ln 64. Overlap: mean over pairs of heads of shared / united kept "
    "positions. Prompt: share of the prompt kept, by any head and by one head on average. Values "
    "|cos|: mean absolute cosine between the kept values of a head.";
constexpr const char* kHowToRead =
    "union near the share that one head may keep: heads keep the same tokens; far above it: together they remember "
    "more than one of them has room for. Coverage 1 is evenly spread over the text. Prompt is what one head keeps of "
    "it. Values |cos| near 1: what a head keeps lies along one line.";

constexpr const char* kMapHowToRead =
    "a row is a moment of the text, the newest at the bottom, and a column a place in it. The darker, the "
    "more of the KV heads that have evicted still hold it. The slope is the newest tokens, which all of them hold; "
    "dark columns below it are places that stay, pale ones are forgotten. Above the slope nothing has been "
    "written yet.";

struct Measure {
  const char* label;
  Style style;
  std::optional<double> (*of)(const Retention&);
};

constexpr Measure kMeasures[] = {
    {"union", {2, 0}, [](const Retention& r) { return std::optional(r.union_share); }},
    {"coverage", {3, 0}, [](const Retention& r) { return r.coverage_entropy; }},
    {"overlap", {4, 0}, [](const Retention& r) { return r.overlap; }},
    {"prompt, per head", {5, 0}, [](const Retention& r) { return r.prompt_mean; }},
    {"values |cos|", {6, 0}, [](const Retention& r) { return r.value_similarity; }}};

std::string cell(const std::optional<double>& value) { return value ? number_text("%.3f", *value) : "-"; }

Table empty_table(const std::string& title, std::vector<std::string> names) {
  const size_t count = names.size();
  names.insert(names.end(), {"union", "coverage", "overlap", "prompt, union", "prompt, per head", "values |cos|"});
  return {.title = title, .columns = std::move(names), .rows = {}, .note = "", .names = count};
}

void add_row(Table& table, std::vector<std::string> cells, const Retention& r) {
  cells.insert(cells.end(), {number_text("%.3f", r.union_share), cell(r.coverage_entropy), cell(r.overlap),
                             cell(r.prompt_union), cell(r.prompt_mean), cell(r.value_similarity)});
  table.rows.push_back(std::move(cells));
}

std::map<int, Retention> by_layer(std::span<const RetentionRow> rows) {
  std::map<int, Retention> means;
  for (const LayerRetention& one : layers_of(rows)) means[one.layer] = one.mean;
  return means;
}

std::optional<Figure> layer_figure(const std::map<int, Retention>& means) {
  std::vector<LayerLine> lines;
  for (const Measure& m : kMeasures) {
    lines.push_back({m.label, m.style, [&means, &m](int layer) {
                       const auto found = means.find(layer);
                       return found == means.end() ? std::nullopt : m.of(found->second);
                     }});
  }
  const auto plot = layer_plot("What heads hold, by layer", "share", means.rbegin()->first + 1, lines);
  if (!plot) return std::nullopt;
  return Figure{plot->title, draw(*plot), kHowToRead};
}

std::optional<Figure> time_figure(const std::vector<RetentionPeriod>& periods) {
  if (periods.size() < 2) return std::nullopt;
  LinePlot plot{.title = "What heads hold, over the text",
                .x = linear_axis(static_cast<double>(periods.back().seen), "tokens seen"),
                .y = {},
                .lines = {},
                .floor = {},
                .marks = {}};
  double highest = 0;
  for (const Measure& m : kMeasures) {
    PlotLine line{m.label, m.style, {}};
    for (const RetentionPeriod& p : periods) {
      const std::optional<double> y = m.of(p.mean);
      if (!y) continue;
      line.points.push_back({static_cast<double>(p.seen), *y, *y, *y});
      highest = std::max(highest, *y);
    }
    if (!line.points.empty()) plot.lines.push_back(std::move(line));
  }
  plot.y = linear_axis(highest, "share");
  return Figure{plot.title, draw(plot), "means over layers and over the evictions up to each mark."};
}

// Ends where the text does, so that the map fills it.
Axis token_axis(const RetentionMap& map, const std::string& label) {
  Axis axis = linear_axis(static_cast<double>(map.tokens), label);
  axis.high = static_cast<double>(map.tokens);
  std::erase_if(axis.ticks, [&](const Tick& tick) { return tick.value > axis.high; });
  return axis;
}

Figure map_figure(const RetentionMap& map) {
  HeatPlot plot{.title = "What is left of the text, as it goes on",
                .x = token_axis(map, "position in the text"),
                .y = token_axis(map, "tokens seen, downwards"),
                .cells = map.shares,
                .none = "no head",
                .all = "all " + std::to_string(map.heads) + " heads",
                .marks = {}};
  if (map.prompt_tokens > 0 && map.prompt_tokens < map.tokens)
    plot.marks = {{static_cast<double>(map.prompt_tokens), "the prompt ends"}};
  return {plot.title, draw(plot), kMapHowToRead};
}

}  // namespace

Document retention_page(std::span<const RetentionRow> rows, const RetentionMap& map, std::string foot) {
  const std::map<int, Retention> layers = by_layer(rows);
  const std::vector<RetentionPeriod> periods = periods_of(rows);
  const auto evictions = std::to_string(rows.back().eviction - rows.front().eviction + 1);
  Table by_layers = empty_table("By layer, means over " + evictions + " evictions", {"layer"});
  for (const auto& [layer, mean] : layers) add_row(by_layers, {std::to_string(layer)}, mean);
  add_row(by_layers, {"all"}, mean_retention(rows));
  Table over_time = empty_table("Over the text, means over layers", {"evictions", "tokens seen"});
  for (const RetentionPeriod& p : periods) {
    const std::string last = p.last == p.first ? "" : "-" + std::to_string(p.last);
    add_row(over_time, {std::to_string(p.first) + last, std::to_string(p.seen)}, p.mean);
  }
  over_time.note = kNote;
  Section section{"What heads hold after their evictions", {map_figure(map)}};
  for (auto& figure : {layer_figure(layers), time_figure(periods)}) {
    if (figure) section.blocks.push_back(*figure);
  }
  section.blocks.push_back(std::move(by_layers));
  section.blocks.push_back(std::move(over_time));
  return {"Retention", {std::move(section)}, std::move(foot)};
}

}  // namespace vase::eval::report
