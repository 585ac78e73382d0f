#include "eval/report/report.h"

#include <algorithm>

#include "eval/report/sections.h"
#include "vase/error.h"

namespace vase::eval::report {
namespace {

// Shards side by side would be two rows of half the problems each.
void require_different_runs(const std::vector<ResultSet>& sets) {
  for (size_t i = 0; i < sets.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (sets[i].config["hash"] != sets[j].config["hash"]) continue;
      throw Error(ErrorCode::kUsage,
                  sets[j].name + " and " + sets[i].name +
                      " have one configuration: they are parts of a run, or copies; join them with "
                      "`vase eval merge` and give the folder that it makes");
    }
  }
}

void require_something(const ReportInput& input) {
  const bool texts =
      std::ranges::any_of(input.sets, [](const ResultSet& set) { return !set.results.empty(); });
  if (texts || !input.kl.empty()) return;
  throw Error(ErrorCode::kNotFound,
              "none of the folders holds a finished text yet; there is nothing to show");
}

std::vector<std::string> line_names(const std::vector<Panel>& panels, const std::vector<KlPanel>& kl) {
  std::vector<std::string> names;
  for (const Panel& panel : panels) {
    for (const Series& series : panel.series) names.push_back(series.label);
  }
  for (const KlPanel& panel : kl) {
    for (const KlSeries& series : panel.series) names.push_back(series.label);
  }
  return names;
}

}  // namespace

Document make_report(const ReportInput& input) {
  require_different_runs(input.sets);
  require_something(input);
  const std::vector<SummaryRow> rows = summarise(input.sets);
  const std::vector<Panel> panels = panels_of(input.sets, rows);
  std::vector<std::vector<KlFileRow>> kl;
  for (const KlFile& file : input.kl) kl.push_back(kl_rows(file));
  const std::vector<KlPanel> kl_panels = kl_panels_of(input.kl, kl);
  const Palette palette(line_names(panels, kl_panels));
  const Material material{input, rows, panels, kl, kl_panels, palette};
  Document document{
      .title = input.title, .sections = {}, .foot = "Made by vase " + input.build + " with vase report."};
  for (const auto section : {overview_section, accuracy_section, kl_section, failure_section, length_section,
                             memory_section, asked_section}) {
    document.sections.push_back(section(material));
  }
  return document;
}

}  // namespace vase::eval::report
