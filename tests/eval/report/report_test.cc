// The page as a whole: it is well-formed, holds a figure of each kind, and says what is not there.
#include "eval/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report_helpers.h"
#include "vase/error.h"
#include "xml.h"

namespace vase::eval::report {
namespace {

using test::Element;

ResultSet run(const std::string& name, const std::string& policy = "vase-attnv",
              const std::string& model = "f00d") {
  return set_of(name, {{"full", 0}, {policy, 64}, {policy, 128}, {"random", 64}},
                {sized("full", 0, "a", true, 100, 110000), sized("full", 0, "b", false, 300, 310000),
                 sized(policy, 64, "a", true, 120, 80000), sized(policy, 64, "b", false, 1000, 80000),
                 sized(policy, 128, "a", true, 110, 120000), sized("random", 64, "a", false, 130, 80000)},
                model);
}

KlFile divergences(const std::string& policy = "vase-attnv") {
  KlFile file{.name = "kl.jsonl", .lines = {}};
  const auto add = [&](const std::string& name, int budget, const std::string& text, double kl) {
    file.lines.push_back({.model = "f00d",
                          .build = "0.1",
                          .policy = name,
                          .text = text,
                          .budget = budget,
                          .tokens = 400,
                          .positions = 100,
                          .kl_mean = kl,
                          .kl_median = kl / 2,
                          .kl_p99 = 3 * kl,
                          .kl_max = 9 * kl,
                          .same_top = 0.9,
                          .nll = 2,
                          .nll_full = 1.5});
  };
  for (const char* text : {"x", "y"}) {
    add("full, f32 rows", 0, text, 0.003);
    add(policy, 64, text, text[0] == 'x' ? 0.2 : 0.4);
    add(policy, 128, text, 0.001);
    add("random", 64, text, 1.5);
  }
  return file;
}

std::string page(ReportInput input) { return html_page(make_report(input)); }

std::vector<Element> named(const std::vector<Element>& all, const std::string& name) {
  std::vector<Element> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const Element& e) { return e.name == name; });
  return found;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Report, HasAFigureOfEachKindAndTheirTables) {
  const std::string html = page({"My results", {run("d")}, {divergences()}, "0.1"});
  const std::vector<Element> all = test::XmlReader::elements(html);
  EXPECT_EQ(named(all, "h1")[0].text, "My results");
  std::vector<std::string> figures;
  for (const Element& e : named(all, "figcaption")) figures.push_back(e.text.substr(0, e.text.find(':')));
  EXPECT_EQ(figures,
            (std::vector<std::string>{"Accuracy against budget", "KL against budget", "Loops against budget",
                                      "Length of texts", "Memory against length"}));
  EXPECT_EQ(named(all, "svg").size(), 5u);
  EXPECT_EQ(std::ranges::count_if(
                all, [](const Element& e) { return e.name == "b" && e.text == "How to read this:"; }),
            5);
  EXPECT_EQ(named(all, "table").size(), 8u);
}

TEST(Report, NeedsNothingFromElsewhere) {
  const std::string html = page({"t", {run("d")}, {divergences()}, "0.1"});
  for (const Element& e : test::XmlReader::elements(html)) {
    EXPECT_NE(e.name, "script");
    EXPECT_NE(e.name, "link");
    EXPECT_NE(e.name, "img");
    EXPECT_FALSE(e.attributes.contains("src"));
    EXPECT_FALSE(e.attributes.contains("href"));
  }
  EXPECT_FALSE(holds(html, "url("));
  EXPECT_FALSE(holds(html, "@import"));
}

TEST(Report, EveryTableRowHasACellForEachColumn) {
  const Document document =
      make_report({"t", {run("d"), run("e", "vase-dkv", "cafe")}, {divergences()}, "0.1"});
  size_t tables = 0;
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      const auto* table = std::get_if<Table>(&block);
      if (!table) continue;
      ++tables;
      EXPECT_FALSE(table->rows.empty()) << table->title;
      for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->columns.size()) << table->title;
    }
  }
  EXPECT_GE(tables, 8u);
}

TEST(Report, FullAndRandomAreLinesOfTheFigures) {
  const std::vector<Element> all = test::XmlReader::elements(page({"t", {run("d")}, {}, "0.1"}));
  const auto labels = [&](const std::string& text) {
    return std::ranges::count_if(all, [&](const Element& e) { return e.name == "text" && e.text == text; });
  };
  EXPECT_EQ(labels("random"), 2);  // accuracy and loops
  EXPECT_EQ(labels("full"), 4);    // these, lengths, and memory
}

TEST(Report, TheNoiseFloorIsShownAndMarks) {
  const std::string html = page({"t", {}, {divergences()}, "0.1"});
  EXPECT_TRUE(holds(html, "below the noise floor"));
  EXPECT_TRUE(holds(html, "0.0010 ± 0.0000 (*)"));
  EXPECT_TRUE(holds(html, "0.3000 ± 0.1000<"));
  KlFile quiet = divergences();
  for (KlLine& line : quiet.lines) line.kl_mean = line.budget == 0 ? 1e-8 : line.kl_mean;
  const std::string far = page({"t", {}, {quiet}, "0.1"});
  EXPECT_FALSE(holds(far, "below the noise floor"));
  EXPECT_TRUE(holds(far, "The noise floor is 1e-08, far below every mark."));
  KlFile bare = divergences();
  std::erase_if(bare.lines, [](const KlLine& line) { return line.budget == 0; });
  const std::string without = page({"t", {}, {bare}, "0.1"});
  EXPECT_TRUE(holds(without, "hold no noise floor"));
  EXPECT_TRUE(holds(without, "0.0010 ± 0.0000 (?)"));
}

TEST(Report, WhatIsNotFinishedIsSaid) {
  ResultSet set = run("half");
  set.config["items"] = 40;
  KlFile torn = divergences();
  torn.torn = true;
  const std::string html = page({"t", {set}, {torn}, "0.1"}),
                    text = markdown_page(make_report({"t", {set}, {torn}, "0.1"}));
  EXPECT_TRUE(holds(html, "half is NOT FINISHED: 6 of 40 texts"));
  EXPECT_TRUE(holds(text, "half is NOT FINISHED: 6 of 40 texts"));
  EXPECT_TRUE(holds(html, "last line is not whole"));
}

TEST(Report, ModelsAreNamedAndKeptApart) {
  const std::string html = page({"t", {run("d"), run("e", "vase-attnv", "cafe")}, {}, "0.1"});
  EXPECT_TRUE(holds(html, "results of 2 models"));
  EXPECT_TRUE(holds(html, "Accuracy against budget: t, tiny (f00d)"));
  EXPECT_TRUE(holds(html, "Accuracy against budget: t, tiny (cafe)"));
}

TEST(Report, SaysWhatWasAsked) {
  const std::vector<Element> cells =
      named(test::XmlReader::elements(page({"t", {run("d")}, {}, "0.1"})), "td");
  const auto behind = [&](const std::string& name) {
    const auto found = std::ranges::find(cells, name, &Element::text);
    return found == cells.end() ? "" : (found + 1)->text;
  };
  EXPECT_EQ(behind("fingerprint of the model"), "f00d");
  EXPECT_EQ(behind("temperature"), "0.6");
  EXPECT_EQ(behind("most tokens of a text"), "1000");
  EXPECT_EQ(behind("hash of all this"), "d");
  EXPECT_EQ(behind("command"), "vase eval run --model 'm 1.gguf' --out 'it'\\''s'");
  EXPECT_EQ(behind("generated"), "1970-01-01 00:01 to 1970-01-01 00:01 UTC");
  EXPECT_EQ(behind("tasks"), "t: 2 problems, content c0, instruction “ Go.”");
}

// Of a merged folder, whose texts came from a server that has moved.
TEST(Report, SaysAllCommandsAndTheFirstAddress) {
  ResultSet set = run("d");
  set.config.erase("command");
  for (const char* shard : {"1/2", "2/2"}) set.config["commands"].push_back({"--shard", shard});
  set.config["config"]["server"] = "openai";
  set.config["server"] = "http://h:1";
  const std::string html = page({"t", {set}, {}, "0.1"});
  EXPECT_TRUE(holds(html, "vase eval run --shard 1/2; vase eval run --shard 2/2"));
  EXPECT_TRUE(holds(html, "f00d at http://h:1"));
  set.config.erase("server");  // as earlier versions wrote it
  set.config["config"]["server"] = "http://h:2";
  EXPECT_TRUE(holds(page({"t", {set}, {}, "0.1"}), "f00d at http://h:2"));
}

TEST(Report, HostileNamesStayText) {
  const std::string hostile = "<script>\"&|'\n";
  const std::string html = page({hostile, {run(hostile, hostile)}, {divergences(hostile)}, hostile});
  for (const Element& e : test::XmlReader::elements(html)) EXPECT_NE(e.name, "script");
  EXPECT_FALSE(holds(markdown_page(make_report({hostile, {run(hostile, hostile)}, {}, hostile})), "<script"));
}

TEST(Report, RunsWithoutBudgetsHaveTablesAlone) {
  const ResultSet set = set_of("d", {{"full", 0}}, {result("full", 0, "a", true)});
  const std::string html = page({"t", {set}, {}, "0.1"});
  EXPECT_FALSE(holds(html, "Accuracy against budget"));
  EXPECT_TRUE(holds(html, "Right answers"));
}

TEST(Report, ValuesThatALogAxisLacksAreLeftToTheTable) {
  KlFile file = divergences();
  for (KlLine& line : file.lines) line.kl_mean = line.budget > 0 ? 0 : line.kl_mean;
  const std::string html = page({"t", {}, {file}, "0.1"});
  EXPECT_FALSE(holds(html, "<figure>"));
  EXPECT_TRUE(holds(html, "0.0000 ± 0.0000 (*)"));
}

TEST(Report, PartsOfOneRunAreRefused) {
  std::vector<ResultSet> sets = {run("d"), run("e")};
  sets[1].config["hash"] = "d";
  try {
    make_report({"t", sets, {}, "0.1"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_TRUE(holds(e.what(), "eval merge"));
  }
}

TEST(Report, NothingIsAnErrorAndAnEmptyRunBesideOthersIsNot) {
  const ResultSet empty = set_of("d", {{"p", 64}}, {});
  EXPECT_THROW(make_report({"t", {empty}, {}, "0.1"}), Error);
  test::XmlReader::elements(page({"t", {empty}, {divergences()}, "0.1"}));
}

}  // namespace
}  // namespace vase::eval::report
