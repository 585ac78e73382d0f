#include "eval/number_text.h"
#include "eval/report/analysis.h"
#include "eval/report/layer_lines.h"

namespace vase::eval::report {
namespace {

constexpr const char* kNote =
    "Error: mean of (x - decoded)^2 over the channels of a token's value in one KV head. Correlations are those of it "
    "and the token's range. The error of a group grows with the square of that group's range, so some correlation is "
    "built in.";

std::string correlation(const std::optional<double>& value) { return value ? number_text("%.2f", *value) : "-"; }

std::string name_of(const ValueQuantizer& q) {
  return std::to_string(q.bits) + " bits, " + std::to_string(q.group) + (q.iterations > 0 ? ", HQQ" : "");
}

// Bits are the hue, groups and refinement the dashes.
Style style_of(const ValueQuantizer& q) { return {q.bits, (q.group > 32 ? 1 : 0) + (q.iterations > 0 ? 2 : 0)}; }

// [layer][quantizer]: correlations of ranks are dear, and the table and every figure take from them.
using Studies = std::vector<std::vector<QuantizerStudy>>;

Studies studies_of(const ValueStudy& study) {
  Studies all(study.layers());
  for (int layer = 0; layer < study.layers(); ++layer) {
    for (size_t i = 0; i < study.quantizers().size(); ++i) all[layer].push_back(study.quantizer(layer, i));
  }
  return all;
}

Table table_of(const ValueStudy& study, const Studies& studies) {
  Table table{.title = "Values in few bits, by layer",
              .columns = {"layer", "bits", "group", "refined", "mean squared error", "Pearson", "Spearman",
                          "Pearson, range squared"},
              .rows = {},
              .note = kNote};
  for (int layer = 0; layer < study.layers(); ++layer) {
    for (size_t i = 0; i < study.quantizers().size(); ++i) {
      const ValueQuantizer& q = study.quantizers()[i];
      const QuantizerStudy& s = studies[layer][i];
      table.rows.push_back({std::to_string(layer), std::to_string(q.bits), std::to_string(q.group),
                            q.iterations > 0 ? "HQQ" : "no", number_text("%.3g", s.squared_error),
                            correlation(s.pearson), correlation(s.spearman), correlation(s.pearson_squares)});
    }
  }
  return table;
}

using Measure = std::optional<double> (*)(const QuantizerStudy&);

struct Wanted {
  const char *title, *y_label, *how_to_read;
  Measure measure;
  bool log;
};

constexpr Wanted kFigures[] = {
    {"Error by layer", "mean squared error",
     "lower is better. Two bits against four is the distance between the two bundles of lines; within a bundle, what "
     "finer groups and HQQ's refinement gain.",
     [](const QuantizerStudy& s) { return std::optional(s.squared_error); }, true},
    {"Error and range, Pearson", "correlation of error and range",
     "1: the larger a token's range, the larger its error, exactly in proportion. 0: the range says nothing.",
     [](const QuantizerStudy& s) { return s.pearson; }, false},
    {"Error and range, Spearman", "correlation of ranks of error and range",
     "the same for the order of tokens alone, so a few tokens far out do not decide.",
     [](const QuantizerStudy& s) { return s.spearman; }, false}};

std::vector<LayerLine> lines_of(const ValueStudy& study, const Studies& studies, Measure measure) {
  std::vector<LayerLine> lines;
  for (size_t i = 0; i < study.quantizers().size(); ++i) {
    const ValueQuantizer& q = study.quantizers()[i];
    lines.push_back({name_of(q), style_of(q), [&studies, i, measure](int l) { return measure(studies[l][i]); }});
  }
  return lines;
}

}  // namespace

Document quantizer_page(const ValueStudy& study, std::string foot) {
  const Studies studies = studies_of(study);
  Section section{"How well values go into few bits", {}};
  for (const Wanted& wanted : kFigures) {
    const auto plot =
        layer_plot(wanted.title, wanted.y_label, study.layers(), lines_of(study, studies, wanted.measure), wanted.log);
    if (plot) section.blocks.push_back(Figure{plot->title, draw(*plot), wanted.how_to_read});
  }
  section.blocks.push_back(table_of(study, studies));
  return {"Values in few bits", {std::move(section)}, std::move(foot)};
}

}  // namespace vase::eval::report
