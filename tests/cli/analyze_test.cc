// `vase analyze` on a tiny model: what they print, and what they refuse.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli_fixture.h"

namespace vase {
namespace {

using nlohmann::json;

class Analyze : public testing::Test {
 protected:
  ~Analyze() override { std::remove(text_.c_str()); }

  Outcome analyze(const std::string& command, const std::string& flags = "", int head_dim = 64) const {
    const test::TinyModel model({.head_dim = head_dim});
    return vase("analyze " + command + " --threads 1 --model " + model.path() + " --text " + text_ + " " + flags);
  }

  std::string text_ = [] {
    const std::string path = test::temporary_path(".txt");
    std::ofstream(path) << "the quick brown fox jumps over the lazy dog and runs";
    return path;
  }();
};

TEST_F(Analyze, ValuesGivesEveryLayer) {
  const Outcome o = analyze("values", "--json --list 2 --skip 4");
  ASSERT_EQ(o.code, 0) << o.err;
  const json report = json::parse(o.out);
  EXPECT_EQ(report["texts"], 1);
  ASSERT_GE(report["layers"].size(), 2u);
  for (const json& layer : report["layers"]) {
    EXPECT_EQ(layer["rows"].get<int>() % 2, 0);  // two KV heads
    EXPECT_GT(layer["median"], 0);
    EXPECT_LE(layer["median"], layer["p99"]);
    EXPECT_LE(layer["p99"], layer["largest"]);
    ASSERT_EQ(layer["farthest"].size(), 2u);
    EXPECT_EQ(layer["farthest"][0]["range"], layer["largest"]);
    EXPECT_GE(layer["farthest"][0]["position"], 4);
  }
}

TEST_F(Analyze, ValuesTableNamesTheOutliers) {
  const Outcome o = analyze("values", "--ratio 1");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("| layer | mean | median |"), std::string::npos);
  EXPECT_NE(o.out.find("| layer | text | token | KV head | position |"), std::string::npos);
}

TEST_F(Analyze, QuantGivesEveryQuantiserThatDividesAHead) {
  const Outcome wide = analyze("quant", "--json"), narrow = analyze("quant", "--json", 32);
  ASSERT_EQ(wide.code, 0) << wide.err;
  ASSERT_EQ(narrow.code, 0) << narrow.err;
  const json rows = json::parse(wide.out)["rows"];
  EXPECT_EQ(rows.size(), 2 * json::parse(narrow.out)["rows"].size());  // groups of 32 alone
  for (size_t i = 0; i + 1 < rows.size(); i += 2) {
    EXPECT_EQ(rows[i]["iterations"], 0);
    EXPECT_EQ(rows[i + 1]["iterations"], 20);
    EXPECT_GT(rows[i]["squared_error"], 0);
  }
}

TEST_F(Analyze, AttentionIsSharedOutBetweenHeldAndEvicted) {
  const Outcome o = analyze("attention", "--json --policy random --policy vase-attnv --kv-budget 16 --kv-budget 24 "
                                         "--kv-buffer 8");
  ASSERT_EQ(o.code, 0) << o.err;
  const json rows = json::parse(o.out)["rows"];
  ASSERT_EQ(rows.size(), 4u);
  for (const json& row : rows) {
    EXPECT_GT(row["tokens"], 0.2);
    EXPECT_LT(row["tokens"], 1);
    EXPECT_GT(row["attention"], 0);
    EXPECT_LE(row["attention"].get<double>(), row["best"].get<double>() + 1e-6);
    EXPECT_LE(row["best"].get<double>(), 1 + 1e-6);
    EXPECT_EQ(row["layers"].size(), 2u);
  }
  EXPECT_LT(rows[0]["tokens"], rows[1]["tokens"]);  // the larger budget
}

TEST_F(Analyze, PagesHoldFigures) {
  const std::string page = test::temporary_path(".html");
  for (const char* command : {"values", "quant", "attention --kv-budget 16 --kv-buffer 8"}) {
    const Outcome o = analyze(command, "--page " + page);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("| layer |"), std::string::npos) << o.out;
    EXPECT_NE(contents(page).find("<svg"), std::string::npos) << command;
    std::remove(page.c_str());
  }
  const Outcome refused = analyze("values", "--page " + text_);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--page"), std::string::npos) << refused.err;
}

TEST_F(Analyze, APageThatCannotBeWrittenLeavesTheTables) {
  const Outcome o = analyze("values", "--page /dev/full");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("| layer |"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("/dev/full"), std::string::npos) << o.err;
}

TEST_F(Analyze, RetentionReadsALog) {
  const std::string log = test::temporary_path(".jsonl"), page = test::temporary_path(".html");
  const test::TinyModel model;
  ASSERT_EQ(vase("run --model " + model.path() + " --raw --ignore-eos --max-tokens 80 --kv-budget 24 --kv-buffer 8 "
                 "--policy random --threads 1 --log-evictions " + log + " hello").code, 0);
  const Outcome o = vase("analyze retention --log " + log + " --page " + page);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("| layer | union |"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("| evictions | tokens seen |"), std::string::npos) << o.out;
  EXPECT_NE(contents(page).find("What is left of the text"), std::string::npos);
  const json report = json::parse(vase("analyze retention --json --log " + log).out);
  EXPECT_EQ(report["layers"].size(), 2u);
  EXPECT_FALSE(report["periods"].empty());
  EXPECT_GT(report["mean"]["value_similarity"].get<double>(), 0);
  const Outcome refused = vase("analyze retention --log " + log + " --page " + log);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--page"), std::string::npos) << refused.err;
  const std::string lines = contents(log), less = lines.substr(lines.find('\n') + 1);
  for (const std::string& wrong : {lines + lines, less}) {  // twice, and without the first head
    std::ofstream(log) << wrong;
    const Outcome wrongly = vase("analyze retention --log " + log);
    EXPECT_EQ(wrongly.code, 1);
    EXPECT_NE(wrongly.err.find(log), std::string::npos) << wrongly.err;
  }
  std::remove(log.c_str());
  std::remove(page.c_str());
}

TEST_F(Analyze, AttentionNeedsSomethingEvicted) {
  const Outcome full = analyze("attention", "--policy full"), roomy = analyze("attention", "--kv-budget 128");
  EXPECT_EQ(full.code, 2);
  EXPECT_NE(full.err.find("never evicts"), std::string::npos) << full.err;
  const Outcome twice = analyze("attention", "--policy vase --policy vase");
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("given twice"), std::string::npos) << twice.err;
  EXPECT_EQ(roomy.code, 2);
  EXPECT_NE(roomy.err.find("nothing was evicted"), std::string::npos) << roomy.err;
}

TEST_F(Analyze, RefusesWhatItCannotMeasure) {
  const Outcome narrow = analyze("quant", "", 16);
  EXPECT_EQ(narrow.code, 1);
  EXPECT_NE(narrow.err.find("multiple of 32"), std::string::npos) << narrow.err;
  const Outcome nothing = analyze("values", "--skip 1000");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("--skip"), std::string::npos) << nothing.err;
  EXPECT_EQ(vase("analyze value").code, 2);
}

}  // namespace
}  // namespace vase
