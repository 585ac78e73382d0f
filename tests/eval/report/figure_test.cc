// Figures: where lines and labels stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "eval/report/box_figure.h"
#include "eval/report/heat_figure.h"
#include "eval/report/line_figure.h"
#include "eval/report/svg.h"
#include "xml.h"

namespace vase::eval::report {
namespace {

using test::Element;

std::vector<Element> of_class(const std::vector<Element>& all, const std::string& name,
                              const std::string& begin) {
  std::vector<Element> found;
  for (const Element& e : all) {
    const auto classes = e.attributes.find("class");
    if (e.name == name && classes != e.attributes.end() && classes->second.starts_with(begin))
      found.push_back(e);
  }
  return found;
}

std::vector<Element> labels_of(const std::vector<Element>& all, double right_of) {
  std::vector<Element> found;
  for (const Element& e : all) {
    if (e.name == "text" && e.attributes.at("text-anchor") == "start" &&
        std::stod(e.attributes.at("x")) > right_of)
      found.push_back(e);
  }
  return found;
}

LinePlot plot_of(size_t lines) {
  LinePlot plot{.title = "a <title>",
                .x = axis_at({128, 256, 512}, "budget"),
                .y = linear_axis(100, "pass@1, %"),
                .lines = {},
                .floor = {},
                .marks = {}};
  for (size_t i = 0; i < lines; ++i) {
    const double y = 50 + static_cast<double>(i);
    plot.lines.push_back({"policy " + std::to_string(i),
                          {static_cast<int>(i % kHues), 0},
                          {{128, y, y - 5, y + 5}, {512, y, y, y}}});
  }
  return plot;
}

TEST(LinePlot, NamesEveryLineOnceWithoutOverlap) {
  const std::vector<Element> all = test::XmlReader::elements(draw(plot_of(8)));
  std::vector<Element> labels = labels_of(all, 400);
  ASSERT_EQ(labels.size(), 8u);
  std::vector<double> heights;
  for (const Element& e : labels) heights.push_back(std::stod(e.attributes.at("y")));
  std::ranges::sort(heights);
  for (size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 14.8);
  // 50 is the lowest value, so its label is the lowest on the page.
  EXPECT_EQ(
      std::ranges::max_element(labels, {}, [](const Element& e) { return std::stod(e.attributes.at("y")); })
          ->text,
      "policy 0");
}

TEST(LinePlot, LabelsFitIntoThePicture) {
  LinePlot plot = plot_of(2);
  plot.lines[0].label = "protect=sinks:4,value:25% score=attention select=sample";
  const std::vector<Element> all = test::XmlReader::elements(draw(plot));
  const std::vector<Element> labels = labels_of(all, 300);
  ASSERT_EQ(labels.size(), 2u);
  for (const Element& e : labels) EXPECT_LE(std::stod(e.attributes.at("x")) + text_width(e.text), 760);
  EXPECT_NE(labels[0].text.find("…"), std::string::npos);
  const auto hint = std::ranges::find(all, plot.lines[0].label, &Element::text);
  ASSERT_NE(hint, all.end()) << "the whole label is there as a hint";
  EXPECT_EQ(hint->name, "title");
}

TEST(LinePlot, DrawsALineAMarkPerPointAndItsBar) {
  const std::vector<Element> all = test::XmlReader::elements(draw(plot_of(1)));
  ASSERT_EQ(of_class(all, "polyline", "line").size(), 1u);
  EXPECT_EQ(of_class(all, "circle", "f0").size(), 3u) << "one beside its name";
  ASSERT_EQ(of_class(all, "line", "bar").size(), 1u);
  const Element bar = of_class(all, "line", "bar")[0];
  // 10 of 100 of the 300 pixels of the y axis.
  EXPECT_NEAR(std::stod(bar.attributes.at("y1")) - std::stod(bar.attributes.at("y2")), 30, 0.11);
}

TEST(LinePlot, ALevelGoesAcrossWithItsBand) {
  LinePlot plot = plot_of(0);
  plot.lines.push_back({"full", {0, 0}, {{0, 70, 65, 75}}, true});
  const std::vector<Element> all = test::XmlReader::elements(draw(plot));
  const std::vector<Element> bands = of_class(all, "rect", "band"), lines = of_class(all, "line", "line");
  ASSERT_EQ(bands.size(), 1u);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NEAR(std::stod(bands[0].attributes.at("height")), 30, 0.11);
  EXPECT_EQ(lines[0].attributes.at("y1"), lines[0].attributes.at("y2"));
  EXPECT_GT(std::stod(lines[0].attributes.at("x2")) - std::stod(lines[0].attributes.at("x1")), 500);
}

TEST(LinePlot, ShadesTheFloorAndMarksPlaces) {
  LinePlot plot = plot_of(1);
  plot.y = log_axis(0.01, 1, "KL");
  plot.floor = 0.1;
  plot.marks = {{256, "longest text"}};
  const std::vector<Element> all = test::XmlReader::elements(draw(plot));
  ASSERT_EQ(of_class(all, "rect", "shade").size(), 1u);
  EXPECT_NEAR(std::stod(of_class(all, "rect", "shade")[0].attributes.at("height")), 150, 0.11);
  EXPECT_EQ(of_class(all, "line", "mark").size(), 1u);
}

TEST(LinePlot, EverythingStaysInside) {
  LinePlot plot = plot_of(3);
  plot.lines[1].points = {{128, 500, -20, 900}, {100000, -3, -3, -3}};
  for (const Element& e : test::XmlReader::elements(draw(plot))) {
    for (const char* name : {"x1", "x2", "y1", "y2", "cx", "cy"}) {
      const auto value = e.attributes.find(name);
      if (value == e.attributes.end()) continue;
      EXPECT_GE(std::stod(value->second), 0);
      EXPECT_LE(std::stod(value->second), 760);
    }
  }
}

TEST(Box, HoldsQuantiles) {
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) values.push_back(i);
  const Box box = box_of("b", {2, 0}, values);
  EXPECT_DOUBLE_EQ(box.low, 5);
  EXPECT_DOUBLE_EQ(box.lower, 25);
  EXPECT_DOUBLE_EQ(box.median, 50);
  EXPECT_DOUBLE_EQ(box.upper, 75);
  EXPECT_DOUBLE_EQ(box.high, 95);
}

TEST(BoxPlot, HasARowForEveryBox) {
  BoxPlot plot{.title = "t", .x = linear_axis(100, "tokens"), .boxes = {}, .reference = 50, .limit = 100};
  for (int i = 0; i < 5; ++i)
    plot.boxes.push_back(box_of("policy " + std::to_string(i), {2, 0}, {10, 20, 30}));
  const std::vector<Element> all = test::XmlReader::elements(draw(plot));
  EXPECT_EQ(of_class(all, "rect", "box").size(), 5u);
  EXPECT_EQ(of_class(all, "line", "mark").size(), 2u);
  EXPECT_EQ(std::ranges::count_if(
                all, [](const Element& e) { return e.name == "text" && e.text.starts_with("policy "); }),
            5);
}

TEST(HeatPlot, ShadesAreTenths) {
  EXPECT_EQ(shade_of(0), 0);
  EXPECT_EQ(shade_of(0.001), 1);
  EXPECT_EQ(shade_of(0.1), 1);
  EXPECT_EQ(shade_of(0.1 + 0.2), 3) << "rounding is not a tenth more";
  EXPECT_EQ(shade_of(0.31), 4);
  EXPECT_EQ(shade_of(1), 10);
}

HeatPlot heat_of(std::vector<std::vector<std::optional<double>>> cells) {
  return {.title = "a <title>",
          .x = linear_axis(100, "across"),
          .y = linear_axis(10, "down"),
          .cells = std::move(cells),
          .none = "nothing",
          .all = "everything",
          .marks = {{25, "here"}}};
}

// The rectangles of one shade.
std::string cells_of_shade(const HeatPlot& plot, int shade) {
  std::string all;
  for (const Element& e : of_class(test::XmlReader::elements(draw(plot)), "path", "heat")) {
    if (e.attributes.at("class") == "heat h" + std::to_string(shade)) all += e.attributes.at("d");
  }
  return all;
}

// 548 x 340 pixels from (62, 34) on.
TEST(HeatPlot, EqualNeighboursAreOneRectangle) {
  const HeatPlot plot = heat_of({{1, 1, {}, 0.5}, {0.5, {}, 0.5, 0.5}});
  EXPECT_EQ(cells_of_shade(plot, 10), "M62.0,34.0h274.0v170.0h-274.0z");
  EXPECT_EQ(cells_of_shade(plot, 5),
            "M473.0,34.0h137.0v170.0h-137.0z"
            "M62.0,204.0h137.0v170.0h-137.0z"
            "M336.0,204.0h274.0v170.0h-274.0z");
  EXPECT_EQ(cells_of_shade(plot, 0), "");
}

TEST(HeatPlot, CellsMeetOnWholePixels) {
  const HeatPlot plot = heat_of({{0, 1, 0}, {1, 0, 1}, {0, 1, 0}});  // 182.67 by 113.33 pixels
  EXPECT_EQ(cells_of_shade(plot, 10),
            "M245.0,34.0h182.0v113.0h-182.0z"
            "M62.0,147.0h183.0v114.0h-183.0z"
            "M427.0,147.0h183.0v114.0h-183.0z"
            "M245.0,261.0h182.0v113.0h-182.0z");
}

TEST(HeatPlot, SaysWhatEverythingMeans) {
  const std::vector<Element> all = test::XmlReader::elements(draw(heat_of({{0.2}})));
  std::vector<std::string> texts;
  for (const Element& e : all) {
    if (e.name == "text") texts.push_back(e.text);
  }
  for (const char* words : {"across", "down", "nothing", "half", "everything", "here", "100", "10"})
    EXPECT_NE(std::ranges::find(texts, words), texts.end()) << words;
  ASSERT_EQ(of_class(all, "line", "mark").size(), 1u);
  EXPECT_NEAR(std::stod(of_class(all, "line", "mark")[0].attributes.at("x1")), 62 + 548 / 4.0, 0.11);
}

}  // namespace
}  // namespace vase::eval::report
