// What accuracy and failures share: a table of all rows, and a value against the budget.
#include <algorithm>
#include <set>

#include "eval/report/sections.h"

namespace vase::eval::report {
namespace {

bool several_folders(const Material& material) {
  std::set<std::string> folders;
  for (const SummaryRow& row : material.rows) folders.insert(row.set);
  return folders.size() > 1;
}

// Between 0 and 100 % there is nothing.
PlotPoint point_of(const SummaryRow& row, RowValue value) {
  return {static_cast<double>(row.budget), value.percent, std::max(0.0, value.percent - value.error),
          std::min(100.0, value.percent + value.error)};
}

}  // namespace

Table result_table(const Material& material, const std::string& title, std::span<const SummaryColumn> columns,
                   const std::string& note) {
  const bool with_folder = several_folders(material);
  Table table{.title = title, .columns = {}, .rows = {}, .note = note, .names = with_folder ? 3u : 2u};
  if (with_folder) table.columns.push_back("folder");
  for (const auto part : {key_columns(), columns}) {
    for (const SummaryColumn& column : part) table.columns.push_back(column.heading);
  }
  for (const SummaryRow& row : material.rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    if (with_folder) cells.push_back(row.set);
    for (const auto part : {key_columns(), columns}) {
      for (const SummaryColumn& column : part) cells.push_back(column.text(row));
    }
  }
  return table;
}

LinePlot budget_plot(const Panel& panel, const Palette& palette, const std::string& title,
                     const std::string& y_label, RowValue (*value)(const SummaryRow&)) {
  LinePlot plot{.title = title, .x = {}, .y = {}, .lines = {}, .floor = {}, .marks = {}};
  std::vector<double> budgets;
  double highest = 0;
  for (const Series* series : shown_series(panel, kMostLines)) {
    PlotLine line{series->label, palette.of(series->label), {}, series->is_level()};
    for (const Cell& cell : series->cells) {
      line.points.push_back(point_of(*cell.row, value(*cell.row)));
      highest = std::max(highest, line.points.back().high);
      if (cell.row->budget > 0) budgets.push_back(cell.row->budget);
    }
    plot.lines.push_back(std::move(line));
  }
  std::ranges::sort(budgets);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  if (budgets.empty()) budgets.push_back(1);  // every series with budgets is among those that are not drawn
  plot.x = axis_at(budgets, "budget (tokens kept per layer and KV head)");
  plot.y = linear_axis(highest, y_label);
  return plot;
}

}  // namespace vase::eval::report
