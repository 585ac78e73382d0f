// A figure of lines that are named where they end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eval/report/axis.h"
#include "eval/report/palette.h"

namespace vase::eval::report {

inline constexpr size_t kMostLines = 8;     // of a figure that can still be read
inline constexpr size_t kLabelLength = 34;  // characters; longer labels lose their middle

// A value with the ends of its bar, which are equal to it where there is none.
struct PlotPoint {
  double x, y, low, high;
};

struct PlotLine {
  std::string label;
  Style style;
  std::vector<PlotPoint> points;  // by growing x; not empty
  bool level = false;  // the one point is drawn across the whole figure, its bar as a band; x does not matter
  bool markers = true;
};

// A place on the x axis with a word.
struct PlotMark {
  double x;
  std::string text;
};

struct LinePlot {
  std::string title;
  Axis x, y;
  std::vector<PlotLine> lines;
  std::optional<double> floor;  // all below this y is shaded
  std::vector<PlotMark> marks;  // dotted, from top to bottom
};

// A whole <svg> element.
std::string draw(const LinePlot& plot);

}  // namespace vase::eval::report
