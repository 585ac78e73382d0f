#include "eval/report/box_figure.h"

#include <algorithm>

#include "eval/report/escape.h"
#include "eval/report/line_figure.h"
#include "eval/report/svg.h"
#include "eval/statistics.h"

namespace vase::eval::report {
namespace {

constexpr double kWidth = 760, kRow = 24, kTop = 20, kBottom = 46, kRight = 20;  // pixels
constexpr double kHalfBox = 7;

class Drawing {
 public:
  explicit Drawing(const BoxPlot& plot)
      : plot_(plot),
        height_(kTop + kRow * static_cast<double>(plot.boxes.size()) + kBottom),
        svg_(kWidth, height_, plot.title) {
    for (const Box& box : plot.boxes)
      left_ = std::max(left_, text_width(shortened(box.label, kLabelLength)) + 14);
  }

  std::string finish() {
    draw_axis();
    double middle = kTop + kRow / 2;
    for (const Box& box : plot_.boxes) {
      draw_box(box, middle);
      middle += kRow;
    }
    return svg_.finish();
  }

 private:
  double x(double value) const { return left_ + plot_.x.place(value) * (kWidth - kRight - left_); }

  void draw_axis() {
    const double bottom = height_ - kBottom;
    for (const Tick& tick : plot_.x.ticks) {
      svg_.line({x(tick.value), kTop}, {x(tick.value), bottom}, "grid");
      svg_.text({x(tick.value), bottom + 16}, tick.text, "middle", "faint");
    }
    svg_.text({(left_ + kWidth - kRight) / 2, height_ - 8}, plot_.x.label, "middle", "");
    if (plot_.reference) svg_.line({x(*plot_.reference), kTop}, {x(*plot_.reference), bottom}, "mark");
    if (!plot_.limit) return;
    svg_.line({x(*plot_.limit), kTop}, {x(*plot_.limit), bottom}, "mark");
    svg_.text({x(*plot_.limit), kTop - 6}, "limit", "middle", "faint");
  }

  void draw_box(const Box& box, double middle) {
    const std::string stroke = stroke_classes({box.style.hue, 0}), shown = shortened(box.label, kLabelLength);
    svg_.text({left_ - 8, middle + 4}, shown, "end", "", shown == box.label ? "" : box.label);
    svg_.line({x(box.low), middle}, {x(box.high), middle}, "bar " + stroke);
    svg_.rectangle({x(box.lower), middle - kHalfBox}, x(box.upper) - x(box.lower), 2 * kHalfBox,
                   "box " + stroke + " " + fill_class(box.style));
    svg_.line({x(box.median), middle - kHalfBox}, {x(box.median), middle + kHalfBox}, "line " + stroke);
  }

  const BoxPlot& plot_;
  double height_, left_ = 0;
  Svg svg_;
};

}  // namespace

Box box_of(const std::string& label, const Style& style, const std::vector<double>& values) {
  return {label,
          style,
          quantile(values, 0.05),
          quantile(values, 0.25),
          quantile(values, 0.5),
          quantile(values, 0.75),
          quantile(values, 0.95)};
}

std::string draw(const BoxPlot& plot) { return Drawing(plot).finish(); }

}  // namespace vase::eval::report
