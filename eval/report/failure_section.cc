#include "eval/report/sections.h"

namespace vase::eval::report {
namespace {

constexpr const char* kTableNote =
    "loop: % of texts whose end repeats itself; garbage: whose end is not readable text; truncated: whose "
    "thinking, or the text itself, did not end; a text counts for the first that it is, garbage before loop. "
    "no answer: in which no final answer was found. tokens: generated per text; eviction that makes a model "
    "write longer costs what it saved. tokens/s: of all sequences together. KV MiB: the most that one "
    "sequence held. ?: not known.";

constexpr const char* kHowToRead =
    "the share of texts that ended in a loop. Lower is better, and the line across is the full cache's own "
    "rate: only what lies above it is the budget's doing. Loops are the usual way in which too small a "
    "budget fails, and they show earlier than accuracy does.";

RowValue loops_of(const SummaryRow& row) { return {100 * row.loop, 0}; }

}  // namespace

Section failure_section(const Material& material) {
  Section section{"Failures and cost", {}};
  if (material.rows.empty()) return section;
  for (const Panel& panel : material.panels) {
    if (!panel.has_budgets()) continue;
    const LinePlot plot = budget_plot(panel, material.palette, "Loops against budget: " + panel.title,
                                      "texts in a loop, %", loops_of);
    section.blocks.push_back(
        Figure{plot.title, draw(plot), kHowToRead + missing_words(panel, plot.lines.size())});
  }
  section.blocks.push_back(
      result_table(material, "How texts fail and what they cost", cost_columns(), kTableNote));
  return section;
}

}  // namespace vase::eval::report
