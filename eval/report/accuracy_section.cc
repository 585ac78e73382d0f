#include "eval/report/sections.h"

namespace vase::eval::report {
namespace {

constexpr const char* kTableNote =
    "pass@1: mean over problems of the share of right texts, in %, with its standard error over problems (?: "
    "one problem has none). runs: the worst and the best single run, one sample and one eviction seed each. "
    "SD of runs: standard deviation of a single run's pass@1 in points, between eviction seeds (of the same "
    "sample) and between samples (of the same eviction seed). strict: right, and the model ended the text "
    "itself. against full: the difference to the full cache on the same problems and samples in points, "
    "with its 95 % bootstrap interval over problems; where the interval holds 0, these problems do not tell "
    "the two apart. p: exact two-sided sign test over problems. "
    "budget/length: two compression ratios. The first is the mean over texts of budget divided by the length "
    "of the full cache's text of the same problem and sample, prompt included; the second is the budget "
    "divided by the mean of these lengths, which looks better where lengths differ much.";

constexpr const char* kHowToRead =
    "each mark is one policy at one budget, with a bar of one standard error over problems up and down. The "
    "line across is the full cache, its own error as a band. A policy is worth its cost where it lies above "
    "random, and good enough where it reaches the full cache. Bars show each policy alone: whether a "
    "difference to the full cache is real, the paired interval in the table says.";

RowValue pass_of(const SummaryRow& row) {
  return {100 * row.pass, row.problems > 1 ? 100 * row.pass_error : 0};
}

}  // namespace

Section accuracy_section(const Material& material) {
  Section section{"Accuracy", {}};
  if (material.rows.empty()) return section;
  for (const Panel& panel : material.panels) {
    if (!panel.has_budgets()) continue;
    const LinePlot plot =
        budget_plot(panel, material.palette, "Accuracy against budget: " + panel.title, "pass@1, %", pass_of);
    section.blocks.push_back(
        Figure{plot.title, draw(plot), kHowToRead + missing_words(panel, plot.lines.size())});
  }
  section.blocks.push_back(result_table(material, "Right answers", accuracy_columns(), kTableNote));
  return section;
}

}  // namespace vase::eval::report
