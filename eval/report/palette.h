// Which line looks how: the same on every figure of a page, and for the presets on every page.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace vase::eval::report {

inline constexpr int kHues = 8, kDashes = 4;  // of the style sheet: classes s0 to s7 and f0 to f7, d1 to d3

// hue 0 is for the full cache and 1 for random controls. dash 0 is a solid line.
struct Style {
  int hue = 0, dash = 0;
  int marker() const { return (hue + dash) % 4; }  // circle, square, triangle, diamond
  bool operator==(const Style&) const = default;
};

class Palette {
 public:
  // names: of all lines of the page. The first word decides on the hue, so variants of a preset share it and
  // differ in their dashes. More than four of one hue repeat.
  explicit Palette(const std::vector<std::string>& names);

  // Hue 0 for a name that is not one of the page's.
  Style of(const std::string& name) const;

 private:
  int hue_of(const std::string& family);

  std::map<std::string, int> families_;  // their hues
  std::map<std::string, Style> styles_;
  int used_[kHues] = {};
};

}  // namespace vase::eval::report
