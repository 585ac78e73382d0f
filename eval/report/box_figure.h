// A figure of rows, one distribution each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/report/axis.h"
#include "eval/report/palette.h"

namespace vase::eval::report {

inline constexpr size_t kMostBoxes = 24;

struct Box {
  std::string label;
  Style style;
  double low, lower, median, upper, high;  // quantiles 0.05, 0.25, 0.5, 0.75, 0.95
};

// Of a list that is not empty.
Box box_of(const std::string& label, const Style& style, const std::vector<double>& values);

struct BoxPlot {
  std::string title;
  Axis x;
  std::vector<Box> boxes;           // from top to bottom
  std::optional<double> reference;  // dotted, from top to bottom
  std::optional<double> limit;      // the same, with the word "limit"
};

// A whole <svg> element.
std::string draw(const BoxPlot& plot);

}  // namespace vase::eval::report
