// A figure of cells that are the darker the larger their value, beside a scale of the shades.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eval/report/axis.h"
#include "eval/report/line_figure.h"

namespace vase::eval::report {

inline constexpr int kShades = 10;  // of the style sheet: classes h0 to h10

struct HeatPlot {
  std::string title;
  Axis x, y;  // y grows downwards
  // [rows][columns] 0 to 1, not empty; the first row is at the top. Rows and columns are equal parts of their
  // axes. Cells without a value stay empty.
  std::vector<std::vector<std::optional<double>>> cells;
  std::string none, all;        // what 0 and 1 mean
  std::vector<PlotMark> marks;  // dotted, from top to bottom
};

// 0 for 0; above it which tenth the value lies in, 1 to kShades.
int shade_of(double value);

// A whole <svg> element; cells side by side with the same shade are one rectangle.
std::string draw(const HeatPlot& plot);

}  // namespace vase::eval::report
