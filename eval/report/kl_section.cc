#include <algorithm>

#include "eval/number_text.h"
#include "eval/report/names.h"
#include "eval/report/sections.h"

namespace vase::eval::report {
namespace {

constexpr const char* kTableNote =
    "KL of the policy's next-token distribution from the full cache's, in nats, at the positions after the "
    "first eviction (or behind the prompt, from the first that reads less than all). mean: over texts, with "
    "the standard error over texts (?: one text has none). median and p99: means of the texts' own. "
    "perplexity: of the given texts, in brackets the full cache's at the same positions. Rows without a "
    "budget are the full cache against itself, with another chunk size or row type: the largest of them is "
    "the noise floor. (*): not above the floor, so not told apart from the full cache; (?): the file holds "
    "no noise floor.";

constexpr double kFarthest = 100;  // a noise floor so many times below the lowest mark is not drawn

constexpr const char* kHowToRead =
    "each mark is one policy at one budget: how far its next-token distributions are from the full cache's "
    "on the same text, with a bar of one standard error over texts up and down. Lower is better, and 0, "
    "which a log axis does not have, is the full cache.";

// What is said behind a mean.
std::string mark_of(const KlFileRow& row, std::optional<double> floor) {
  if (row.budget == 0) return "";
  if (!floor) return " (?)";
  return row.summary.kl <= *floor ? " (*)" : "";
}

std::vector<std::string> cells_of(const KlFileRow& row, std::optional<double> floor) {
  const KlSummary& s = row.summary;
  std::vector<std::string> cells = summary_cells(s, mark_of(row, floor));
  cells.insert(cells.begin(), {row.label, row.budget > 0 ? std::to_string(row.budget) : "-"});
  cells.insert(cells.end(), {std::to_string(row.seeds), std::to_string(s.texts), std::to_string(s.positions)});
  return cells;
}

Table table_of(const KlFile& file, const std::vector<KlFileRow>& rows, const std::string& model,
               const std::string& name) {
  Table table{.title = file.name + ", " + name,
              .columns = {"policy", "budget", "mean KL ± SE, nats", "median", "p99", "max",
                          "same top token, %", "perplexity (full)", "seeds", "texts", "positions"},
              .rows = {},
              .note = kTableNote};
  for (const KlFileRow& row : rows) {
    if (row.model == model) table.rows.push_back(cells_of(row, noise_floor(rows, model)));
  }
  return table;
}

// Random controls, then the others in their order, as many as a figure has room for.
std::vector<const KlSeries*> shown(const KlPanel& panel) {
  std::vector<const KlSeries*> list;
  for (const bool random : {true, false}) {
    for (const KlSeries& series : panel.series) {
      if (is_random(series.policy) == random && list.size() < kMostLines) list.push_back(&series);
    }
  }
  return list;
}

// A log axis has no place for 0.
bool has_place(const KlFileRow* row) { return row->summary.kl > 0; }

LinePlot plot_of(const KlPanel& panel, const Material& material) {
  LinePlot plot{.title = "KL against budget: " + model_title(material, panel.model),
                .x = {},
                .y = {},
                .lines = {},
                .floor = {},
                .marks = {}};
  std::vector<double> budgets;
  double lowest = 1, highest = 0;
  for (const KlSeries* series : shown(panel)) {
    PlotLine line{series->label, material.palette.of(series->label), {}};
    for (const KlFileRow* row : series->rows) {
      if (!has_place(row)) continue;
      const double kl = row->summary.kl, error = row->summary.kl_error;
      line.points.push_back(
          {static_cast<double>(row->budget), kl, std::max(kl - error, kl / 10), kl + error});
      lowest = std::min(lowest, line.points.back().low);
      highest = std::max(highest, kl + error);
      budgets.push_back(row->budget);
    }
    if (!line.points.empty()) plot.lines.push_back(std::move(line));
  }
  if (plot.lines.empty()) return plot;
  if (const double floor = panel.floor.value_or(0); floor > lowest / kFarthest) {
    plot.floor = floor;
    lowest = std::min(lowest, floor / 2);
    highest = std::max(highest, floor);
  }
  plot.x = axis_at(budgets, "budget (tokens kept per layer and KV head)");
  plot.y = log_axis(lowest, std::max(highest, lowest), "mean KL from the full cache, nats");
  return plot;
}

// What there is to say of the noise floor.
std::string words_about_floor(const KlPanel& panel, bool shaded) {
  if (shaded) return " What lies in the shaded part is not told apart from it.";
  if (!panel.floor) return " The files hold no noise floor, so small values may mean nothing.";
  return " The noise floor is " + number_text("%.2g", *panel.floor) + ", far below every mark.";
}

std::string words_about(const KlPanel& panel, const LinePlot& plot) {
  std::string words = words_about_floor(panel, plot.floor.has_value());
  if (std::ranges::none_of(panel.series, is_random, &KlSeries::policy)) {
    words +=
        " No random policy was measured: without it nobody can tell what choosing adds over keeping any "
        "tokens.";
  }
  if (!panel.same_texts) words += " The files are about different texts: compare lines of one file alone.";
  if (panel.series.size() > plot.lines.size()) {
    words += " " + std::to_string(panel.series.size() - plot.lines.size()) +
             " more lines are in the tables alone: drawn are random policies and then the first as they were "
             "asked for, where they are above 0.";
  }
  return words;
}

}  // namespace

Section kl_section(const Material& material) {
  Section section{"Divergence from the full cache", {}};
  for (const KlPanel& panel : material.kl_panels) {
    const LinePlot plot = plot_of(panel, material);
    if (plot.lines.empty()) continue;
    section.blocks.push_back(Figure{plot.title, draw(plot), kHowToRead + words_about(panel, plot)});
  }
  for (size_t f = 0; f < material.kl.size(); ++f) {
    std::vector<std::string> done;
    for (const KlFileRow& row : material.kl[f]) {
      if (std::ranges::find(done, row.model) != done.end()) continue;
      done.push_back(row.model);
      section.blocks.push_back(
          table_of(material.input.kl[f], material.kl[f], row.model, model_title(material, row.model)));
    }
  }
  return section;
}

}  // namespace vase::eval::report
