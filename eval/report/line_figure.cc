#include "eval/report/line_figure.h"

#include <algorithm>

#include "eval/report/escape.h"
#include "eval/report/labels.h"
#include "eval/report/svg.h"

namespace vase::eval::report {
namespace {

constexpr double kWidth = 760, kHeight = 380;          // pixels
constexpr double kLeft = 62, kTop = 34, kBottom = 46;  // around the axes
constexpr double kLead = 26;                           // from the axes to a label
constexpr double kMarkerRoom = 9;                      // from a label's own marker to its text
constexpr double kLabelGap = 15;                       // between labels
constexpr double kBaseLine = 4;                        // from the middle of a line of text

class Drawing {
 public:
  explicit Drawing(const LinePlot& plot) : plot_(plot), svg_(kWidth, kHeight, plot.title) {
    double label = 0;
    for (const PlotLine& line : plot.lines)
      label = std::max(label, text_width(shortened(line.label, kLabelLength)));
    right_ = kWidth - kLead - kMarkerRoom - label - 6;
  }

  std::string finish() {
    draw_floor();
    draw_axes();
    draw_marks();
    for (const PlotLine& line : plot_.lines) line.level ? draw_level(line) : draw_line(line);
    draw_labels();
    return svg_.finish();
  }

 private:
  double x(double value) const { return kLeft + plot_.x.place(value) * (right_ - kLeft); }
  double y(double value) const { return bottom_ - plot_.y.place(value) * (bottom_ - kTop); }
  Spot spot(const PlotPoint& p) const { return {x(p.x), y(p.y)}; }
  Spot end_of(const PlotLine& line) const {
    return line.level ? Spot{right_, y(line.points.back().y)} : spot(line.points.back());
  }

  void draw_axes() {
    for (const Tick& tick : plot_.y.ticks) {
      svg_.line({kLeft, y(tick.value)}, {right_, y(tick.value)}, "grid");
      svg_.text({kLeft - 7, y(tick.value) + kBaseLine}, tick.text, "end", "faint");
    }
    for (const Tick& tick : plot_.x.ticks) {
      svg_.line({x(tick.value), bottom_}, {x(tick.value), bottom_ + 5}, "axis");
      svg_.text({x(tick.value), bottom_ + 18}, tick.text, "middle", "faint");
    }
    svg_.line({kLeft, bottom_}, {right_, bottom_}, "axis");
    svg_.text({4, 16}, plot_.y.label, "start", "");
    svg_.text({(kLeft + right_) / 2, kHeight - 8}, plot_.x.label, "middle", "");
  }

  void draw_floor() {
    if (!plot_.floor) return;
    const double top = y(*plot_.floor);
    svg_.rectangle({kLeft, top}, right_ - kLeft, bottom_ - top, "shade");
    svg_.text({kLeft + 4, std::max(top + 13, kTop + 13)}, "below the noise floor", "start", "faint");
  }

  void draw_marks() {
    for (const PlotMark& mark : plot_.marks) {
      svg_.line({x(mark.x), kTop}, {x(mark.x), bottom_}, "mark");
      const bool late = plot_.x.place(mark.x) > 0.5;
      svg_.text({x(mark.x) + (late ? -4 : 4), kTop + 10}, mark.text, late ? "end" : "start", "faint");
    }
  }

  void draw_level(const PlotLine& line) {
    const PlotPoint& p = line.points.back();
    if (p.high > p.low) {
      svg_.rectangle({kLeft, y(p.high)}, right_ - kLeft, y(p.low) - y(p.high),
                     "band " + fill_class(line.style));
    }
    svg_.line({kLeft, y(p.y)}, {right_, y(p.y)}, "line " + stroke_classes(line.style));
  }

  void draw_line(const PlotLine& line) {
    std::vector<Spot> spots;
    for (const PlotPoint& p : line.points) {
      spots.push_back(spot(p));
      if (p.high > p.low)
        svg_.line({x(p.x), y(p.low)}, {x(p.x), y(p.high)}, "bar " + stroke_classes({line.style.hue, 0}));
    }
    svg_.polyline(spots, "line " + stroke_classes(line.style));
    if (!line.markers) return;
    for (const Spot& s : spots) svg_.marker(s, line.style);
  }

  void draw_labels() {
    std::vector<double> wanted;
    for (const PlotLine& line : plot_.lines) wanted.push_back(end_of(line).y);
    const std::vector<double> places = spread_apart(wanted, kLabelGap, kTop, bottom_);
    for (size_t i = 0; i < plot_.lines.size(); ++i) {
      const PlotLine& line = plot_.lines[i];
      const Spot end = end_of(line), label{right_ + kLead, places[i]};
      svg_.polyline({{end.x + 5, end.y}, {right_ + 6, end.y}, {label.x - 4, label.y}},
                    "lead " + stroke_classes({line.style.hue, 0}));
      const std::string shown = shortened(line.label, kLabelLength);
      if (line.markers && !line.level) svg_.marker(label, line.style);
      svg_.text({label.x + kMarkerRoom, label.y + kBaseLine}, shown, "start", "",
                shown == line.label ? "" : line.label);
    }
  }

  const LinePlot& plot_;
  Svg svg_;
  double right_, bottom_ = kHeight - kBottom;
};

}  // namespace

std::string draw(const LinePlot& plot) { return Drawing(plot).finish(); }

}  // namespace vase::eval::report
