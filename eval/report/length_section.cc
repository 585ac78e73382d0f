#include <algorithm>

#include "eval/number_text.h"
#include "eval/report/box_figure.h"
#include "eval/report/sections.h"
#include "eval/report/setting.h"
#include "eval/statistics.h"

namespace vase::eval::report {
namespace {

constexpr const char* kHowToRead =
    "one row per policy and budget. The box holds the middle half of the texts, the stroke in it is the "
    "median, the thin line goes from the shortest twentieth to the longest. The dotted line is the median of "
    "the full cache: a box far to the right of it is a policy that makes the model write longer, one at the "
    "limit a policy that does not come to an end.";

struct Lengths {
  const Series* series;
  const SummaryRow* row;
  std::vector<double> tokens;  // generated, of each text

  std::string label() const {
    return series->label + (row->budget > 0 ? " at " + std::to_string(row->budget) : "");
  }
};

std::vector<Lengths> lengths_of(const Panel& panel) {
  std::vector<Lengths> all;
  for (const Series* series : shown_series(panel, panel.series.size())) {
    for (const Cell& cell : series->cells) {
      Lengths one{series, cell.row, {}};
      for (const Result* r : cell.results()) one.tokens.push_back(r->generated_tokens);
      all.push_back(std::move(one));
    }
  }
  return all;
}

double longest_of(const std::vector<Lengths>& all) {
  double longest = 0;
  for (const Lengths& one : all) longest = std::max(longest, std::ranges::max(one.tokens));
  return longest;
}

// The limit that all of the panel's runs have, if a text has come to it.
std::optional<double> common_limit(const Panel& panel, double longest) {
  std::optional<int64_t> limit;
  for (const Series& series : panel.series) {
    const int64_t own = number_setting(*series.cells.front().set, "max_tokens", 0);
    if (limit.value_or(own) != own) return std::nullopt;
    limit = own;
  }
  if (!limit || *limit <= 0 || longest < static_cast<double>(*limit)) return std::nullopt;
  return static_cast<double>(*limit);
}

Figure figure_of(const Panel& panel, const Material& material, const std::vector<Lengths>& all) {
  const double longest = longest_of(all);
  BoxPlot plot{
      .title = "Length of texts: " + panel.title, .x = linear_axis(longest, "generated tokens"), .boxes = {}};
  for (const Lengths& one : all) {
    if (plot.boxes.size() == kMostBoxes) break;
    plot.boxes.push_back(box_of(one.label(), material.palette.of(one.series->label), one.tokens));
    if (!plot.reference && is_full(one.series->policy)) plot.reference = plot.boxes.back().median;
  }
  plot.limit = common_limit(panel, longest);
  std::string how = kHowToRead;
  if (!panel.has_full()) how += " The full cache was not run, so there is no dotted line.";
  if (all.size() > kMostBoxes)
    how += " " + std::to_string(all.size() - kMostBoxes) + " more rows are in the table alone.";
  return {plot.title, draw(plot), how};
}

void add_rows(Table& table, const Panel& panel, const std::vector<Lengths>& all) {
  for (const Lengths& one : all) {
    std::vector<std::string> cells = {panel.title, one.label(), std::to_string(one.tokens.size())};
    for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95, 1.0})
      cells.push_back(number_text("%.0f", quantile(one.tokens, q)));
    table.rows.push_back(std::move(cells));
  }
}

}  // namespace

Section length_section(const Material& material) {
  Section section{"Length of texts", {}};
  Table table{
      .title = "Generated tokens per text",
      .columns = {"task, model", "policy", "texts", "5 %", "25 %", "median", "75 %", "95 %", "longest"},
      .rows = {},
      .note = "Quantiles over all texts of a row. 0 stands for a server that does not say.",
      .names = 2};
  for (const Panel& panel : material.panels) {
    const std::vector<Lengths> all = lengths_of(panel);
    if (longest_of(all) > 0) section.blocks.push_back(figure_of(panel, material, all));
    add_rows(table, panel, all);
  }
  if (!table.rows.empty()) section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace vase::eval::report
