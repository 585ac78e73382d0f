// Pages of `vase analyze`: what stands in them, and that a browser can read them.
#include "eval/report/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "eval/report/layer_lines.h"
#include "xml.h"

namespace vase::eval::report {
namespace {

const Table& table_at(const Document& page, size_t index) {
  std::vector<const Table*> tables;
  for (const Block& block : page.sections.at(0).blocks) {
    if (const auto* table = std::get_if<Table>(&block)) tables.push_back(table);
  }
  return *tables.at(index);
}

size_t figures_of(const Document& page) {
  const auto elements = test::XmlReader::elements(html_page(page));
  return static_cast<size_t>(std::ranges::count(elements, "svg", &test::Element::name));
}

// Two layers of one KV head with two channels; the range of token t is t + 1, and 20 at the end of layer 1.
ValueStudy values_of_two_layers(std::vector<ValueQuantizer> quantizers = {}) {
  ValueStudy study(2, std::move(quantizers));
  for (int layer = 0; layer < 2; ++layer) {
    TextValues values = TextValues::sized(0, 1, 5, 2, 0);
    const float last = layer == 1 ? 20 : 5;
    values.put(0, std::vector<float>{0, 1, 0, 2, 0, 3, 0, 4, 0, last});
    study.add(layer, values);
  }
  return study;
}

TEST(RangePage, ListsLayersAndTheTokensFarOut) {
  const ValueStudy study = values_of_two_layers();
  const auto name = [](const ValueRange&) { return std::pair<std::string, std::string>("a <text>", "\"x\""); };
  const Document page = range_page(study, 3, 8, name, "the foot");
  EXPECT_EQ(figures_of(page), 2u);
  const Table& layers = table_at(page, 0);
  ASSERT_EQ(layers.rows.size(), 2u);
  EXPECT_EQ(layers.rows[0][4], "5");
  EXPECT_EQ(layers.rows[1][5], "6.67");  // 20 / 3
  const Table& far = table_at(page, 1);
  ASSERT_EQ(far.rows.size(), 1u);
  EXPECT_EQ(far.rows[0], (std::vector<std::string>{"1", "a <text>", "\"x\"", "0", "4", "6.67"}));
  EXPECT_NE(html_page(page).find("the foot"), std::string::npos);
  EXPECT_TRUE(table_at(range_page(study, 7, 8, name, ""), 1).rows.empty());
}

TEST(QuantizerPage, DrawsErrorsAndBothCorrelations) {
  ValueStudy study(1, {{.bits = 2, .group = 4}, {.bits = 4, .group = 4}});
  TextValues values = TextValues::sized(0, 1, 3, 4, 0);
  values.put(0, std::vector<float>{0, 1, 0.5, 0, 0, 2, 1, 0, 0, 4, 2, 0});
  study.add(0, values);
  const Document page = quantizer_page(study, "");
  EXPECT_EQ(figures_of(page), 3u);
  const Table& table = table_at(page, 0);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][1], "2");
  EXPECT_EQ(table.rows[0][6], "1.00");  // Spearman: the larger the range, the larger the error
}

RetentionRow row(int64_t eviction, int layer, double union_share) {
  RetentionRow r{.eviction = eviction, .layer = layer, .seen = 20 + 10 * eviction};
  r.retention.union_share = union_share;
  r.retention.value_similarity = 0.25;
  return r;
}

TEST(RetentionPage, HasLayersAndTheCourse) {
  const std::vector<RetentionRow> rows = {row(0, 0, 0.5), row(0, 1, 0.7), row(1, 0, 0.7), row(1, 1, 0.9)};
  const RetentionMap map{.tokens = 30, .prompt_tokens = 12, .heads = 60, .shares = {{1, {}}, {0.5, 1}}};
  const Document page = retention_page(rows, map, "");
  EXPECT_EQ(figures_of(page), 3u);
  const Table &layers = table_at(page, 0), &course = table_at(page, 1);
  ASSERT_EQ(layers.rows.size(), 3u);
  EXPECT_EQ(layers.rows[0], (std::vector<std::string>{"0", "0.600", "-", "-", "-", "-", "0.250"}));
  EXPECT_EQ(layers.rows[2][1], "0.700");
  ASSERT_EQ(course.rows.size(), 2u);
  EXPECT_EQ(course.rows[1], (std::vector<std::string>{"1", "30", "0.800", "-", "-", "-", "-", "0.250"}));
  const std::string html = html_page(page);
  for (const char* words :
       {"position in the text", "tokens seen, downwards", "the prompt ends", "all 60 heads"})
    EXPECT_NE(html.find(words), std::string::npos) << words;
  const RetentionMap no_prompt{.tokens = 30, .heads = 1, .shares = {{1}}},
      inside{.tokens = 30, .prompt_tokens = 30, .heads = 1, .shares = {{1}}};
  for (const RetentionMap& other : {no_prompt, inside})
    EXPECT_EQ(html_page(retention_page(rows, other, "")).find("the prompt ends"), std::string::npos);
}

// One head of one channel, four tokens, all keys alike: attention is even, and what a cell holds of 4 tokens is 3 or 2.
HeldStudy two_cells() {
  TextAttention text = TextAttention::sized(1, 1, 1, 4);
  HeldStudy study(1, 2);
  const auto kept = [](std::vector<int32_t> positions) {
    return std::vector{EvictionRecord{.seen = 3, .candidates = 2, .buffer = 1, .kept = std::move(positions)}};
  };
  study.add(0, text, std::vector<std::vector<EvictionRecord>>{kept({0, 2}), kept({2})});
  return study;
}

TEST(HeldPage, SetsAttentionAgainstTokens) {
  const std::vector<HeldCell> cells = {{"random", 4}, {"snapkv", 2}};
  const Document page = held_page(two_cells(), cells, "");
  EXPECT_EQ(figures_of(page), 2u);
  const Table& table = table_at(page, 0);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"random", "4", "75.0", "75.00", "75.00", "0", "75.00"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"snapkv", "2", "50.0", "50.00", "50.00", "0", "50.00"}));
  EXPECT_EQ(table_at(page, 1).columns, (std::vector<std::string>{"layer", "random at 4", "snapkv at 2"}));
}

TEST(LayerPlot, LeavesOutWhatHasNoValue) {
  const auto constant = [](double value) { return [value](int) { return std::optional(value); }; };
  const auto nothing = [](int) { return std::optional<double>(); };
  EXPECT_FALSE(layer_plot("t", "y", 3, {{"a", {}, nothing}}));
  EXPECT_FALSE(layer_plot("t", "y", 3, {{"a", {}, constant(0)}}, true));
  const auto plot = layer_plot("t", "y", 3, {{"a", {}, nothing}, {"b", {}, constant(0.4)}});
  ASSERT_TRUE(plot);
  ASSERT_EQ(plot->lines.size(), 1u);
  EXPECT_EQ(plot->lines[0].points.size(), 3u);
  EXPECT_EQ(plot->y.low, 0);
  EXPECT_EQ(layer_plot("t", "y", 3, {{"b", {}, constant(-0.4)}})->y.low, -1);
}

TEST(LayerAxis, HasFewTicks) {
  EXPECT_EQ(layer_axis(1).high, 1);
  for (int layers = 1; layers < 200; ++layers) {
    EXPECT_LE(layer_axis(layers).ticks.size(), 8u) << layers;
    EXPECT_LE(layer_axis(layers).ticks.back().value, layer_axis(layers).high);
  }
}

}  // namespace
}  // namespace vase::eval::report
