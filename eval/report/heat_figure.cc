#include "eval/report/heat_figure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/report/svg.h"

namespace vase::eval::report {
namespace {

constexpr double kWidth = 760, kHeight = 420;                         // pixels
constexpr double kLeft = 62, kTop = 34, kBottom = 46, kRight = 150;   // around the axes
constexpr double kBaseLine = 4;                                       // from the middle of a line of text
constexpr double kScaleLeft = 24, kScaleWidth = 16, kScaleStep = 16;  // of the scale, from the axes on
constexpr double kRounding = 1e-9;  // of a share that is meant to be a tenth

class Drawing {
 public:
  explicit Drawing(const HeatPlot& plot) : plot_(plot), svg_(kWidth, kHeight, plot.title) {}

  std::string finish() {
    draw_cells();
    draw_axes();
    draw_marks();
    draw_scale();
    return svg_.finish();
  }

 private:
  double x(double value) const { return kLeft + plot_.x.place(value) * (right_ - kLeft); }
  double y(double value) const { return kTop + plot_.y.place(value) * (bottom_ - kTop); }

  void draw_cells() {
    std::vector<std::vector<Rectangle>> shades(kShades + 1);
    for (size_t r = 0; r < plot_.cells.size(); ++r) add_row(r, shades);
    for (size_t s = 0; s < shades.size(); ++s) {
      if (!shades[s].empty()) svg_.rectangles(shades[s], "heat h" + std::to_string(s));
    }
  }

  void add_row(size_t r, std::vector<std::vector<Rectangle>>& shades) const {
    const std::vector<std::optional<double>>& row = plot_.cells[r];
    const auto shade = [&](size_t column) { return row[column] ? shade_of(*row[column]) : -1; };
    const double top = edge(kTop, bottom_, r, plot_.cells.size());
    const double bottom = edge(kTop, bottom_, r + 1, plot_.cells.size());
    for (size_t begin = 0, end; begin < row.size(); begin = end) {
      for (end = begin + 1; end < row.size() && shade(end) == shade(begin);) ++end;
      if (!row[begin]) continue;
      const double left = edge(kLeft, right_, begin, row.size()), right = edge(kLeft, right_, end, row.size());
      shades[static_cast<size_t>(shade(begin))].push_back({{left, top}, right - left, bottom - top});
    }
  }

  // Where the i-th of `count` equal parts begins: a whole pixel, since cells that overlapped would show as lines.
  static double edge(double low, double high, size_t i, size_t count) {
    return std::round(low + (high - low) * static_cast<double>(i) / static_cast<double>(count));
  }

  void draw_axes() {
    for (const Tick& tick : plot_.y.ticks) {
      svg_.line({kLeft - 5, y(tick.value)}, {kLeft, y(tick.value)}, "axis");
      svg_.text({kLeft - 7, y(tick.value) + kBaseLine}, tick.text, "end", "faint");
    }
    for (const Tick& tick : plot_.x.ticks) {
      svg_.line({x(tick.value), bottom_}, {x(tick.value), bottom_ + 5}, "axis");
      svg_.text({x(tick.value), bottom_ + 18}, tick.text, "middle", "faint");
    }
    svg_.line({kLeft, kTop}, {kLeft, bottom_}, "axis");
    svg_.line({kLeft, bottom_}, {right_, bottom_}, "axis");
    svg_.text({4, 16}, plot_.y.label, "start", "");
    svg_.text({(kLeft + right_) / 2, kHeight - 8}, plot_.x.label, "middle", "");
  }

  // Their words stand above the cells.
  void draw_marks() {
    for (const PlotMark& mark : plot_.marks) {
      svg_.line({x(mark.x), kTop}, {x(mark.x), bottom_}, "mark");
      const bool late = plot_.x.place(mark.x) > 0.5;
      svg_.text({x(mark.x) + (late ? -4 : 4), kTop - 5}, mark.text, late ? "end" : "start", "faint");
    }
  }

  void draw_scale() {
    const double left = right_ + kScaleLeft;
    const auto top = [](int shade) { return kTop + kScaleStep * (kShades - shade); };
    for (int s = 0; s <= kShades; ++s)
      svg_.rectangle({left, top(s)}, kScaleWidth, kScaleStep, "heat h" + std::to_string(s));
    const std::pair<int, std::string> words[] = {{0, plot_.none}, {kShades / 2, "half"}, {kShades, plot_.all}};
    for (const auto& [shade, word] : words) {
      const double line = top(shade) + kScaleStep / 2 + kBaseLine;
      svg_.text({left + kScaleWidth + 6, line}, word, "start", "faint");
    }
  }

  const HeatPlot& plot_;
  Svg svg_;
  double right_ = kWidth - kRight, bottom_ = kHeight - kBottom;
};

}  // namespace

int shade_of(double value) {
  return std::clamp(static_cast<int>(std::ceil(value * kShades - kRounding)), 0, kShades);
}

std::string draw(const HeatPlot& plot) { return Drawing(plot).finish(); }

}  // namespace vase::eval::report
