#include "eval/report/layer_lines.h"

#include <algorithm>

namespace vase::eval::report {
namespace {

constexpr int kMostTicks = 8;

PlotLine points_of(const LayerLine& line, int layers, bool log) {
  PlotLine drawn{line.label, line.style, {}};
  drawn.markers = false;
  for (int layer = 0; layer < layers; ++layer) {
    const std::optional<double> y = line.value(layer);
    if (!y || (log && *y <= 0)) continue;
    drawn.points.push_back({static_cast<double>(layer), *y, *y, *y});
  }
  return drawn;
}

Axis signed_axis(const std::string& label) {
  return {.low = -1,
          .high = 1,
          .ticks = {{-1, "-1"}, {-0.5, "-0.5"}, {0, "0"}, {0.5, "0.5"}, {1, "1"}},
          .label = label};
}

Axis y_axis(const std::vector<PlotLine>& lines, const std::string& label, bool log) {
  double low = lines.front().points.front().y, high = low;
  for (const PlotLine& line : lines) {
    for (const PlotPoint& p : line.points) {
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
  }
  if (log) return log_axis(low, high, label);
  return low < 0 ? signed_axis(label) : linear_axis(high, label);
}

}  // namespace

Axis layer_axis(int layers) {
  Axis axis{.low = 0, .high = static_cast<double>(std::max(1, layers - 1)), .ticks = {}, .label = "layer"};
  const int step = std::max(1, (layers + kMostTicks - 1) / kMostTicks);
  for (int layer = 0; layer < layers; layer += step)
    axis.ticks.push_back({static_cast<double>(layer), std::to_string(layer)});
  return axis;
}

std::optional<LinePlot> layer_plot(const std::string& title, const std::string& y_label, int layers,
                                   const std::vector<LayerLine>& lines, bool log) {
  LinePlot plot{.title = title, .x = layer_axis(layers), .y = {}, .lines = {}, .floor = {}, .marks = {}};
  for (const LayerLine& line : lines) {
    PlotLine drawn = points_of(line, layers, log);
    if (!drawn.points.empty()) plot.lines.push_back(std::move(drawn));
  }
  if (plot.lines.empty()) return std::nullopt;
  plot.y = y_axis(plot.lines, y_label, log);
  return plot;
}

}  // namespace vase::eval::report
