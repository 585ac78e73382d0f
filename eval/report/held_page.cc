#include <algorithm>

#include "eval/number_text.h"
#include "eval/report/analysis.h"
#include "eval/report/layer_lines.h"

namespace vase::eval::report {
namespace {

constexpr const char* kNote =
    "At every position from the first eviction on, the full cache's attention of a KV head's queries is looked up: how "
    "much of it falls on the tokens that the policy holds at that time. Best possible: on as many tokens, had those "
    "been chosen that this very position attends to most, which no policy can know beforehand.";

std::string name_of(const HeldCell& cell) { return cell.policy + " at " + std::to_string(cell.budget); }

// The same hue for a policy in both figures.
Palette palette_of(std::span<const HeldCell> cells) {
  std::vector<std::string> names;
  for (const HeldCell& cell : cells) names.insert(names.end(), {cell.policy, name_of(cell)});
  return Palette(names);
}

Table table_of(const HeldStudy& study, std::span<const HeldCell> cells) {
  Table table{.title = "Attention on held tokens, means over layers",
              .columns = {"policy", "budget", "tokens held, %", "attention on them, %", "best possible, %",
                          "lowest layer", "there, %"},
              .rows = {},
              .note = kNote};
  for (size_t c = 0; c < cells.size(); ++c) {
    const HeldShare all = study.all(c);
    int lowest = 0;
    for (int l = 1; l < study.layers(); ++l) {
      if (study.layer(c, l).attention < study.layer(c, lowest).attention) lowest = l;
    }
    table.rows.push_back({cells[c].policy, std::to_string(cells[c].budget), percent_text(all.tokens),
                          number_text("%.2f", 100 * all.attention), number_text("%.2f", 100 * all.best),
                          std::to_string(lowest), number_text("%.2f", 100 * study.layer(c, lowest).attention)});
  }
  return table;
}

Table layer_table(const HeldStudy& study, std::span<const HeldCell> cells) {
  Table table{.title = "Attention on held tokens by layer, %", .columns = {"layer"}, .rows = {}, .note = ""};
  for (const HeldCell& cell : cells) table.columns.push_back(name_of(cell));
  for (int layer = 0; layer < study.layers(); ++layer) {
    std::vector<std::string> row = {std::to_string(layer)};
    for (size_t c = 0; c < cells.size(); ++c) row.push_back(number_text("%.2f", 100 * study.layer(c, layer).attention));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The line of a policy over its budgets; others of the same name come to it.
PlotLine& line_of(std::vector<PlotLine>& lines, const std::string& policy, const Palette& palette) {
  const auto found = std::ranges::find(lines, policy, &PlotLine::label);
  if (found != lines.end()) return *found;
  return lines.emplace_back(PlotLine{policy, palette.of(policy), {}});
}

void by_growing_x(PlotLine& line) { std::ranges::sort(line.points, {}, &PlotPoint::x); }

Figure kept_figure(const HeldStudy& study, std::span<const HeldCell> cells) {
  const Palette palette = palette_of(cells);
  PlotLine even{"as many as tokens", {0, 3}, {{0, 0, 0, 0}, {100, 100, 100, 100}}}, best{"best possible", {0, 1}, {}};
  even.markers = false;
  std::vector<PlotLine> lines;
  for (size_t c = 0; c < cells.size(); ++c) {
    const HeldShare all = study.all(c);
    const double x = 100 * all.tokens, y = 100 * all.attention, most = 100 * all.best;
    best.points.push_back({x, most, most, most});
    if (lines.size() + 2 >= kMostLines && std::ranges::find(lines, cells[c].policy, &PlotLine::label) == lines.end())
      continue;
    line_of(lines, cells[c].policy, palette).points.push_back({x, y, y, y});
  }
  lines.push_back(std::move(best));
  std::ranges::for_each(lines, by_growing_x);
  lines.push_back(std::move(even));
  const LinePlot plot{.title = "Attention against tokens held",
                      .x = linear_axis(100, "tokens held, % of those seen"),
                      .y = linear_axis(100, "attention of the full cache on them, %"),
                      .lines = std::move(lines),
                      .floor = {},
                      .marks = {}};
  return {plot.title, draw(plot),
          "higher is better: a policy far above the straight line holds the tokens that attention goes to. What is "
          "missing to 100 is attention that the model would have paid to evicted tokens. With more policies than there "
          "is room for, the first are drawn."};
}

std::optional<Figure> layer_figure(const HeldStudy& study, std::span<const HeldCell> cells) {
  const Palette palette = palette_of(cells);
  std::vector<LayerLine> lines;
  for (size_t c = 0; c < std::min(cells.size(), kMostLines); ++c) {
    lines.push_back({name_of(cells[c]), palette.of(name_of(cells[c])), [&study, c](int layer) {
                       return std::optional(100 * (1 - study.layer(c, layer).attention));
                     }});
  }
  const auto plot = layer_plot("Attention lost, by layer", "% of the full cache's attention", study.layers(), lines);
  if (!plot) return std::nullopt;
  return Figure{plot->title, draw(*plot),
                "attention that falls on evicted tokens, lower is better. Layers with a peak would need a larger "
                "budget. With more rows than there is room for, the first are drawn."};
}

}  // namespace

Document held_page(const HeldStudy& study, std::span<const HeldCell> cells, std::string foot) {
  Section section{"What attention finds", {kept_figure(study, cells)}};
  if (auto figure = layer_figure(study, cells)) section.blocks.push_back(std::move(*figure));
  section.blocks.push_back(table_of(study, cells));
  section.blocks.push_back(layer_table(study, cells));
  return {"Attention on held tokens", {std::move(section)}, std::move(foot)};
}

}  // namespace vase::eval::report
