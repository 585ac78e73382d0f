#include "eval/number_text.h"
#include "eval/report/analysis.h"
#include "eval/report/layer_lines.h"

namespace vase::eval::report {
namespace {

constexpr size_t kPlaces = 64;  // parts of the longest text

Table range_table(const ValueStudy& study, double ratio) {
  Table table{.title = "Ranges of values, by layer",
              .columns = {"layer", "mean", "median", "p99", "largest", "largest / median", "skewness", "outliers",
                          "of"},
              .rows = {},
              .note = "Range: the largest channel less the smallest of a token's value in one KV head. Outliers: more "
                      "than " + number_text("%g", ratio) + " times the layer's median."};
  for (int layer = 0; layer < study.layers(); ++layer) {
    const RangeStudy r = study.ranges(layer, ratio, 0);
    std::vector<std::string> cells = {std::to_string(layer)};
    for (const double value : {r.mean, r.median, r.p99, r.largest}) cells.push_back(number_text("%.3g", value));
    for (const double value : {r.median > 0 ? r.largest / r.median : 0, r.skewness})
      cells.push_back(number_text("%.2f", value));
    cells.insert(cells.end(), {std::to_string(r.outliers), std::to_string(r.rows)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table outlier_table(const ValueStudy& study, double ratio, size_t listed, const TokenName& name) {
  Table table{.title = "Tokens far out",
              .columns = {"layer", "text", "token", "KV head", "position", "range / median"},
              .rows = {},
              .note = "",
              .names = 3};
  for (int layer = 0; layer < study.layers(); ++layer) {
    const RangeStudy r = study.ranges(layer, ratio, listed);
    for (const ValueRange& row : r.farthest) {
      if (row.range <= ratio * r.median) break;
      const auto [text, token] = name(row);
      table.rows.push_back({std::to_string(layer), text, token, std::to_string(row.kv_head),
                            std::to_string(row.position),
                            r.median > 0 ? number_text("%.2f", row.range / r.median) : "-"});
    }
  }
  if (table.rows.empty()) table.note = "No token of these texts.";
  return table;
}

std::optional<Figure> layer_figure(const ValueStudy& study) {
  const auto line = [&](double RangeStudy::* field) {
    return [&study, field](int layer) { return std::optional(study.ranges(layer, 1, 0).*field); };
  };
  const auto plot = layer_plot("Ranges by layer", "range of a value", study.layers(),
                               {{"median", {2, 0}, line(&RangeStudy::median)},
                                {"p99", {3, 0}, line(&RangeStudy::p99)},
                                {"largest", {4, 0}, line(&RangeStudy::largest)}},
                               true);
  if (!plot) return std::nullopt;
  return Figure{plot->title, draw(*plot),
                "how far apart the three lines are is how uneven values are: where the upper two keep together, many "
                "tokens have large values; where the uppermost leaves the others, a few tokens stand out."};
}

std::optional<Figure> place_figure(const ValueStudy& study) {
  const std::vector<PlaceRange> places = study.places(kPlaces);
  if (places.size() < 2) return std::nullopt;
  PlotLine mean{"mean", {2, 0}, {}}, largest{"largest", {4, 0}, {}};
  double highest = 0;
  for (const PlaceRange& place : places) {
    const auto x = static_cast<double>(place.first);
    mean.points.push_back({x, place.mean, place.mean, place.mean});
    largest.points.push_back({x, place.largest, place.largest, place.largest});
    highest = std::max(highest, place.largest);
  }
  mean.markers = largest.markers = false;
  const LinePlot plot{.title = "Where the large values are",
                      .x = linear_axis(places.back().first, "position in the text"),
                      .y = linear_axis(highest, "range / median of the layer"),
                      .lines = {mean, largest},
                      .floor = {},
                      .marks = {}};
  return Figure{plot.title, draw(plot),
                "over all layers, KV heads and texts. A peak is a place whose values are larger than elsewhere; 1 is "
                "what is usual in a layer."};
}

}  // namespace

Document range_page(const ValueStudy& study, double ratio, size_t listed, const TokenName& name, std::string foot) {
  Section section{"How far values spread", {}};
  for (auto& figure : {layer_figure(study), place_figure(study)}) {
    if (figure) section.blocks.push_back(*figure);
  }
  section.blocks.push_back(range_table(study, ratio));
  section.blocks.push_back(outlier_table(study, ratio, listed, name));
  return {"Ranges of values", {std::move(section)}, std::move(foot)};
}

}  // namespace vase::eval::report
