// Writes one SVG element. Colours and widths come from classes of the page's style sheet.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/report/palette.h"

namespace vase::eval::report {

struct Spot {
  double x, y;  // pixels; y grows downwards
};

struct Rectangle {
  Spot corner;  // top left
  double width, height;
};

class Svg {
 public:
  // title: what a screen reader says. Text is escaped everywhere.
  Svg(double width, double height, std::string_view title);

  void line(Spot from, Spot to, std::string_view classes);
  void polyline(const std::vector<Spot>& spots, std::string_view classes);
  void rectangle(Spot corner, double width, double height, std::string_view classes);  // corner: top left
  void rectangles(const std::vector<Rectangle>& all, std::string_view classes);        // as one element
  void marker(Spot centre, const Style& style);
  // anchor: "start", "middle" or "end"; y is the base line. hint: shown when the pointer rests on it; empty
  // for none.
  void text(Spot at, std::string_view text, std::string_view anchor, std::string_view classes,
            std::string_view hint = "");

  std::string finish();

 private:
  std::string out_;
};

// Pixels that a text takes in the page's small type; an estimate.
double text_width(std::string_view text);

// "s2 d1": stroke of a style; "f2": fill.
std::string stroke_classes(const Style& style);
std::string fill_class(const Style& style);

}  // namespace vase::eval::report
