#include "eval/report/svg.h"

#include "eval/number_text.h"
#include "eval/report/escape.h"

namespace vase::eval::report {
namespace {

constexpr double kCharacterWidth = 6.7;  // pixels, of the style sheet's 12 pixel type
constexpr double kMarker = 3.6;          // pixels, half a marker

std::string pixels(double value) { return number_text("%.1f", value); }

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + html_escaped(value) + "\"";
}

std::string point_list(const std::vector<Spot>& spots) {
  std::string list;
  for (const Spot& s : spots) list += (list.empty() ? "" : " ") + pixels(s.x) + "," + pixels(s.y);
  return list;
}

std::vector<Spot> corners(Spot c, int marker) {
  constexpr double kWide = kMarker * 1.25;
  switch (marker) {
    case 1:
      return {{c.x - kMarker, c.y - kMarker},
              {c.x + kMarker, c.y - kMarker},
              {c.x + kMarker, c.y + kMarker},
              {c.x - kMarker, c.y + kMarker}};
    case 2:
      return {{c.x, c.y - kWide}, {c.x + kWide, c.y + kMarker}, {c.x - kWide, c.y + kMarker}};
    default:
      return {{c.x, c.y - kWide}, {c.x + kWide, c.y}, {c.x, c.y + kWide}, {c.x - kWide, c.y}};
  }
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title) {
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" +
         attribute("viewBox", "0 0 " + pixels(width) + " " + pixels(height)) + ">\n<title>" +
         html_escaped(title) + "</title>\n";
}

void Svg::line(Spot from, Spot to, std::string_view classes) {
  out_ += "<line" + attribute("class", classes) + attribute("x1", pixels(from.x)) +
          attribute("y1", pixels(from.y)) + attribute("x2", pixels(to.x)) + attribute("y2", pixels(to.y)) +
          "/>\n";
}

void Svg::polyline(const std::vector<Spot>& spots, std::string_view classes) {
  out_ += "<polyline" + attribute("class", classes) + attribute("points", point_list(spots)) + "/>\n";
}

void Svg::rectangle(Spot corner, double width, double height, std::string_view classes) {
  out_ += "<rect" + attribute("class", classes) + attribute("x", pixels(corner.x)) +
          attribute("y", pixels(corner.y)) + attribute("width", pixels(width)) +
          attribute("height", pixels(height)) + "/>\n";
}

void Svg::rectangles(const std::vector<Rectangle>& all, std::string_view classes) {
  std::string path;
  for (const Rectangle& r : all) {
    path += "M" + pixels(r.corner.x) + "," + pixels(r.corner.y) + "h" + pixels(r.width) + "v" +
            pixels(r.height) + "h" + pixels(-r.width) + "z";
  }
  out_ += "<path" + attribute("class", classes) + attribute("d", path) + "/>\n";
}

void Svg::marker(Spot centre, const Style& style) {
  if (style.marker() == 0) {
    out_ += "<circle" + attribute("class", fill_class(style)) + attribute("cx", pixels(centre.x)) +
            attribute("cy", pixels(centre.y)) + attribute("r", pixels(kMarker)) + "/>\n";
    return;
  }
  out_ += "<polygon" + attribute("class", fill_class(style)) +
          attribute("points", point_list(corners(centre, style.marker()))) + "/>\n";
}

void Svg::text(Spot at, std::string_view text, std::string_view anchor, std::string_view classes,
               std::string_view hint) {
  out_ += "<text" + attribute("class", classes) + attribute("x", pixels(at.x)) +
          attribute("y", pixels(at.y)) + attribute("text-anchor", anchor) + ">" + html_escaped(text);
  if (!hint.empty()) out_ += "<title>" + html_escaped(hint) + "</title>";
  out_ += "</text>\n";
}

std::string Svg::finish() { return out_ + "</svg>\n"; }

double text_width(std::string_view text) {
  return kCharacterWidth * static_cast<double>(character_count(text));
}

std::string stroke_classes(const Style& style) {
  return "s" + std::to_string(style.hue) + (style.dash > 0 ? " d" + std::to_string(style.dash) : "");
}

std::string fill_class(const Style& style) { return "f" + std::to_string(style.hue); }

}  // namespace vase::eval::report
