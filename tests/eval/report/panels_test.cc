// Which results stand in one figure, and under which name.
#include "eval/report/panels.h"

#include <gtest/gtest.h>

#include "report_helpers.h"

namespace vase::eval::report {
namespace {

std::vector<std::string> labels(const Panel& panel) {
  std::vector<std::string> list;
  for (const Series& series : panel.series) list.push_back(series.label);
  return list;
}

using Labels = std::vector<std::string>;

ResultSet three_policies(const std::string& name, const std::string& model = "f00d") {
  return set_of(name, {{"full", 0}, {"p", 64}, {"p", 32}, {"random", 32}},
                {result("full", 0, "a", true), result("p", 64, "a", true), result("p", 32, "a", false),
                 result("random", 32, "a", false)},
                model);
}

TEST(Panels, OneLineForEachPolicyByGrowingBudget) {
  const std::vector<ResultSet> sets = {three_policies("d")};
  const std::vector<SummaryRow> rows = summarise(sets);
  const std::vector<Panel> panels = panels_of(sets, rows);
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(panels[0].title, "t, tiny (f00d)");
  EXPECT_EQ(labels(panels[0]), (Labels{"full", "p", "random"}));
  EXPECT_EQ(panels[0].series[1].cells[0].row->budget, 32);
  EXPECT_EQ(panels[0].series[1].cells[1].row->budget, 64);
  EXPECT_TRUE(panels[0].series[0].is_level());
  EXPECT_EQ(panels[0].series[1].cells[0].results().size(), 1u);
  EXPECT_EQ(missing_words(panels[0], 3), "");
}

TEST(Panels, FoldersThatDifferInTheirCellsAloneGiveOneLine) {
  const std::vector<ResultSet> sets = {
      set_of("d", {{"p", 32}}, {result("p", 32, "a", false)}),
      set_of("e", {{"p", 64}, {"q", 64}}, {result("p", 64, "a", true), result("q", 64, "a", true)})};
  const std::vector<SummaryRow> rows = summarise(sets);
  const std::vector<Panel> panels = panels_of(sets, rows);
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(labels(panels[0]), (Labels{"p", "q"}));
  EXPECT_EQ(panels[0].series[0].cells.size(), 2u);
}

TEST(Panels, OtherSettingsAreOtherLinesWithTheFolder) {
  std::vector<ResultSet> sets = {three_policies("runs/greedy"), three_policies("runs/warm/")};
  sets[1].config["config"]["sampling"]["temperature"] = 1;
  const std::vector<SummaryRow> rows = summarise(sets);
  const std::vector<Panel> panels = panels_of(sets, rows);
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(labels(panels[0]), (Labels{"full · greedy", "p · greedy", "random · greedy", "full · warm",
                                       "p · warm", "random · warm"}));
}

TEST(Panels, FoldersOfOneNameAreCalledByTheirPath) {
  std::vector<ResultSet> sets = {set_of("a/x", {{"p", 32}}, {result("p", 32, "a", true)}),
                                 set_of("b/x", {{"p", 32}}, {result("p", 32, "a", true)})};
  sets[1].config["config"]["max_tokens"] = 7;
  const std::vector<SummaryRow> rows = summarise(sets);
  EXPECT_EQ(labels(panels_of(sets, rows)[0]), (Labels{"p · a/x", "p · b/x"}));
}

TEST(Panels, ModelsAreKeptApartAndServersStandWithTheFirst) {
  std::vector<ResultSet> sets = {set_of("s", {{"server:x", 0}}, {result("server:x", 0, "a", true)}, "x"),
                                 three_policies("d", "f00d"), three_policies("e", "cafe")};
  sets[0].config["config"]["server"] = "http://127.0.0.1:1";
  const std::vector<SummaryRow> rows = summarise(sets);
  const std::vector<Panel> panels = panels_of(sets, rows);
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].series.size(), 4u);
  EXPECT_EQ(labels(panels[0]), (Labels{"full", "p", "random", "server:x"}));
  EXPECT_EQ(panels[1].title, "t, tiny (cafe)");
}

TEST(Panels, TheFullCacheAndRandomAreDrawnWhateverElseThereIs) {
  Cells cells;
  std::vector<Result> results;
  for (int i = 0; i < 10; ++i) cells.push_back({"p" + std::to_string(i), 32});
  cells.push_back({"random", 32});
  cells.push_back({"full", 0});
  for (const auto& [policy, budget] : cells) results.push_back(result(policy, budget, "a", true));
  const std::vector<ResultSet> sets = {set_of("d", cells, results)};
  const std::vector<SummaryRow> rows = summarise(sets);
  const Panel panel = panels_of(sets, rows)[0];
  const std::vector<const Series*> shown = shown_series(panel, 4);
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_EQ(shown[0]->policy, "full");
  EXPECT_EQ(shown[1]->policy, "random");
  EXPECT_EQ(shown[2]->policy, "p0");
  EXPECT_EQ(shown[3]->policy, "p1");
  EXPECT_NE(missing_words(panel, 4).find("8 more lines"), std::string::npos);
}

TEST(Panels, WhatIsMissingIsSaid) {
  const std::vector<ResultSet> sets = {set_of("d", {{"p", 32}}, {result("p", 32, "a", true)})};
  const std::vector<SummaryRow> rows = summarise(sets);
  const std::string words = missing_words(panels_of(sets, rows)[0], 1);
  EXPECT_NE(words.find("full cache was not run"), std::string::npos);
  EXPECT_NE(words.find("No random policy"), std::string::npos);
}

}  // namespace
}  // namespace vase::eval::report
