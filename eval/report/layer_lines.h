// Figures with a model's layers on the x axis.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/report/line_figure.h"

namespace vase::eval::report {

// One line, whose points are value(layer); layers without a value are passed over.
struct LayerLine {
  std::string label;
  Style style;
  std::function<std::optional<double>(int layer)> value;
};

// Lines without any value are left out. The y axis goes from 0, or from -1 where a value is below 0; with `log` values
// that are not above 0 are passed over. Empty when nothing is left.
std::optional<LinePlot> layer_plot(const std::string& title, const std::string& y_label, int layers,
                                   const std::vector<LayerLine>& lines, bool log = false);

// Layers 0, step, 2 step, ...: at most about eight.
Axis layer_axis(int layers);

}  // namespace vase::eval::report
