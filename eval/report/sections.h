// The parts of a report.
#pragma once

#include <string>
#include <vector>

#include "eval/report/document.h"
#include "eval/report/kl_panels.h"
#include "eval/report/line_figure.h"
#include "eval/report/palette.h"
#include "eval/report/panels.h"
#include "eval/report/report.h"

namespace vase::eval::report {

// What all of them are made from.
struct Material {
  const ReportInput& input;
  const std::vector<SummaryRow>& rows;
  const std::vector<Panel>& panels;
  const std::vector<std::vector<KlFileRow>>& kl;  // of each file
  const std::vector<KlPanel>& kl_panels;
  const Palette& palette;
};

// Each is without blocks when there is nothing to say.
Section overview_section(const Material& material);
Section accuracy_section(const Material& material);
Section kl_section(const Material& material);
Section failure_section(const Material& material);
Section length_section(const Material& material);
Section memory_section(const Material& material);
Section asked_section(const Material& material);

// A table of all rows with the columns that say what a row is about, then these.
Table result_table(const Material& material, const std::string& title, std::span<const SummaryColumn> columns,
                   const std::string& note);

// A value of a row in percent, and its standard error; no bar where that is 0.
struct RowValue {
  double percent, error;
};

// That value against the budget, one line per series. The panel must have budgets.
LinePlot budget_plot(const Panel& panel, const Palette& palette, const std::string& title,
                     const std::string& y_label, RowValue (*value)(const SummaryRow&));

}  // namespace vase::eval::report
