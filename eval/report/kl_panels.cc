#include "eval/report/kl_panels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace vase::eval::report {
namespace {

using TextSet = std::set<std::pair<std::string, int64_t>>;  // name and tokens

TextSet texts_of(const KlFile& file, const std::string& model) {
  TextSet texts;
  for (const KlLine& line : file.lines) {
    if (line.model == model) texts.emplace(line.text, line.tokens);
  }
  return texts;
}

bool is_drawn(const KlFileRow& row) { return row.budget > 0 && row.summary.positions > 0; }

// The policies of a file on a model, each with its budgets; with other settings a policy is another one.
std::vector<KlSeries> series_of(const std::vector<KlFileRow>& rows, const std::string& model) {
  std::vector<KlSeries> list;
  for (const KlFileRow& row : rows) {
    if (row.model != model || !is_drawn(row)) continue;
    auto series = std::ranges::find(list, row.label, &KlSeries::label);
    if (series == list.end()) series = list.insert(series, {row.label, row.policy, {}});
    series->rows.push_back(&row);
  }
  for (KlSeries& series : list) std::ranges::sort(series.rows, {}, &KlFileRow::budget);
  return list;
}

std::vector<std::string> models_of(std::span<const std::vector<KlFileRow>> rows) {
  std::vector<std::string> models;
  for (const auto& file : rows) {
    for (const KlFileRow& row : file) {
      if (is_drawn(row) && std::ranges::find(models, row.model) == models.end()) models.push_back(row.model);
    }
  }
  return models;
}

// What one file alone has is called by its label.
void name_files(KlPanel& panel, const std::vector<std::string>& files) {
  std::map<std::string, int> counts;
  for (const KlSeries& series : panel.series) ++counts[series.label];
  for (size_t i = 0; i < panel.series.size(); ++i) {
    if (counts[panel.series[i].label] > 1) panel.series[i].label += " · " + files[i];
  }
}

}  // namespace

std::vector<KlPanel> kl_panels_of(std::span<const KlFile> files,
                                  std::span<const std::vector<KlFileRow>> rows) {
  std::vector<KlPanel> panels;
  for (const std::string& model : models_of(rows)) {
    KlPanel panel{.model = model, .series = {}, .floor = {}};
    std::vector<std::string> file_of;
    std::set<TextSet> texts;
    for (size_t f = 0; f < files.size(); ++f) {
      for (KlSeries& series : series_of(rows[f], model)) {
        panel.series.push_back(std::move(series));
        file_of.push_back(files[f].name);
      }
      if (const TextSet own = texts_of(files[f], model); !own.empty()) texts.insert(own);
      if (const auto floor = noise_floor(rows[f], model))
        panel.floor = std::max(panel.floor.value_or(0), *floor);
    }
    name_files(panel, file_of);
    panel.same_texts = texts.size() == 1;
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace vase::eval::report
