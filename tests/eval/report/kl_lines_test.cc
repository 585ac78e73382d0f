// Files of `vase eval kl --out`: the numbers are those of its own table; what is not such a file is named
// with its line.
#include "eval/report/kl_lines.h"

#include <gtest/gtest.h>

#include "eval/report/kl_panels.h"
#include "eval/unlike_texts.h"
#include "report_helpers.h"
#include "vase/error.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

class KlLines : public testing::Test {
 protected:
  std::string write(const std::string& content, const std::string& name = "kl.jsonl") const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  // As `vase eval kl` writes it.
  static std::string line(const KlRow& row, const KlText& text, uint64_t seed,
                          const std::string& model = "f00d") {
    json object = text_json(row, text, seed);
    object["model"] = model;
    object["build"] = "0.1";
    return object.dump() + "\n";
  }
  static std::string simple(const std::string& policy, int budget, double kl,
                            const std::string& model = "f00d") {
    const KlText text{.text = "a", .tokens = 50, .kl = {static_cast<float>(kl), static_cast<float>(kl)}};
    return line({policy, budget, {}}, text, 0, model);
  }
  std::string error_of(const std::string& content) const {
    try {
      read_kl_file(write(content));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

// Two texts, of which one has two seeds of different length.
KlRow three_texts() {
  const auto text = [](const char* name, std::vector<float> kl, int same, double nll) {
    const int predicted = static_cast<int>(kl.size()) - 1;
    return KlText{.text = name,
                  .tokens = 40,
                  .first_eviction = 9,
                  .kl = std::move(kl),
                  .same_top = same,
                  .nll = nll * predicted,
                  .full_nll = predicted * 0.5,
                  .predicted = predicted};
  };
  return {"p",
          64,
          {text("a", {0.5f, 0.25f, 0.75f, 1.0f}, 3, 1.5), text("a", {0.125f, 0.25f}, 1, 2),
           text("b", {0.25f, 0.5f, 0.5f}, 2, 1)}};
}

TEST_F(KlLines, GiveTheNumbersOfTheTable) {
  const KlRow row = three_texts();
  const KlFile file = read_kl_file(
      write(line(row, row.texts[0], 0) + line(row, row.texts[1], 1) + line(row, row.texts[2], 0)));
  ASSERT_EQ(file.lines.size(), 3u);
  EXPECT_FALSE(file.torn);
  const std::vector<KlFileRow> rows = kl_rows(file);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].seeds, 2u);
  const KlSummary expected = summarise(row), s = rows[0].summary;
  EXPECT_EQ(s.texts, 2);
  EXPECT_EQ(s.positions, 9);
  EXPECT_DOUBLE_EQ(s.kl, expected.kl);
  EXPECT_DOUBLE_EQ(s.kl, (2.875 / 6 + 1.25 / 3) / 2);  // by hand
  EXPECT_DOUBLE_EQ(s.kl_error, expected.kl_error);
  EXPECT_DOUBLE_EQ(s.max, expected.max);
  EXPECT_DOUBLE_EQ(s.same_top, expected.same_top);
  EXPECT_DOUBLE_EQ(s.same_top_error, expected.same_top_error);
  EXPECT_DOUBLE_EQ(s.perplexity, expected.perplexity);
  EXPECT_DOUBLE_EQ(s.perplexity_error, expected.perplexity_error);
  EXPECT_DOUBLE_EQ(s.full_perplexity, expected.full_perplexity);
  EXPECT_DOUBLE_EQ(s.median, ((0.625 + 0.1875) / 2 + 0.5) / 2);  // mean over texts of their own medians
}

// Worked out by hand, as KlSummary.OfTextsThatDifferInEverything.
TEST_F(KlLines, OfTextsThatDifferInEverything) {
  const KlRow row = test::unlike_texts();
  std::string lines;
  for (const KlText& text : row.texts) lines += line(row, text, 0);
  const KlSummary s = kl_rows(read_kl_file(write(lines))).at(0).summary;
  EXPECT_EQ(s.positions, 7);
  EXPECT_NEAR(s.kl, 4.75 / 3, 1e-12);
  EXPECT_NEAR(s.kl_error, 0.7120003121, 1e-9);
  EXPECT_NEAR(s.median, 4.625 / 3, 1e-12);  // of 0.875, 0.75, 3
  EXPECT_NEAR(s.p99, 5.9725 / 3, 1e-12);    // of 1.9775, 0.995, 3
  EXPECT_DOUBLE_EQ(s.max, 3);
  EXPECT_NEAR(s.same_top, 1.25 / 3, 1e-12);
  EXPECT_NEAR(s.same_top_error, 0.2204792759, 1e-9);
  EXPECT_NEAR(s.perplexity, 2.718281828, 1e-9);
  EXPECT_NEAR(s.perplexity_error, 1.359140914, 1e-9);
  EXPECT_NEAR(s.full_perplexity, 1.868245957, 1e-9);
}

TEST_F(KlLines, WithoutAPredictedTokenThereIsNoPerplexity) {
  const KlRow row = test::unlike_texts();
  const json read = kl_file_json(read_kl_file(write(line(row, row.texts[2], 0))))["rows"].at(0);
  EXPECT_EQ(read["kl_mean"], 3);
  EXPECT_EQ(read["positions"], 1);
  for (const char* key : {"perplexity", "perplexity_error", "perplexity_full"})
    EXPECT_TRUE(read[key].is_null()) << key;
}

TEST_F(KlLines, OtherSettingsAreOtherRowsAndShowWhatDiffers) {
  const auto with = [](int budget, RowType type, double kl) {
    KlRow row{"p", budget, {}};
    row.settings =
        settings_json(Policy::parse("random"), {.key_type = RowType::kQ8_0, .value_type = type}, {});
    const KlText text{.text = "a", .tokens = 50, .kl = {static_cast<float>(kl), static_cast<float>(kl)}};
    return line(row, text, 0);
  };
  const std::vector<KlFile> files = {
      read_kl_file(write(with(64, RowType::kF16, 0.25) + with(64, RowType::kQ4_0, 0.5) +
                         with(128, RowType::kQ4_0, 0.125) + simple("q", 64, 1) + simple("p", 96, 1)))};
  const std::vector<std::vector<KlFileRow>> rows = {kl_rows(files[0])};
  ASSERT_EQ(rows[0].size(), 5u);
  EXPECT_EQ(rows[0][0].summary.kl, 0.25);
  EXPECT_EQ(rows[0][0].label, "p · value_type f16");
  EXPECT_EQ(rows[0][1].label, "p · value_type q4_0");
  EXPECT_EQ(rows[0][3].label, "q") << "a line of an earlier version";
  EXPECT_EQ(rows[0][4].label, "p · settings unknown");
  const std::vector<KlPanel> panels = kl_panels_of(files, rows);
  ASSERT_EQ(panels[0].series.size(), 4u);
  EXPECT_EQ(panels[0].series[1].label, "p · value_type q4_0");
  EXPECT_EQ(panels[0].series[1].rows.size(), 2u);
  const json shown = kl_file_json(files[0])["rows"];
  EXPECT_EQ(shown[1]["cache"]["value_type"], "q4_0");
  EXPECT_FALSE(shown[3].contains("cache"));
}

TEST_F(KlLines, TheChunkTellsNothingApart) {
  std::string lines;
  for (const int chunk : {16, 64}) {
    KlRow row{"p", 64, {}};
    row.settings = settings_json(Policy::parse("random"), {}, {.chunk = chunk});
    lines += line(row, {.text = "a" + std::to_string(chunk), .tokens = 50, .kl = {1}}, 0);
  }
  EXPECT_EQ(kl_rows(read_kl_file(write(lines))).size(), 1u);
}

TEST_F(KlLines, ATextThatNeverEvictedCountsNothing) {
  const KlText never{.text = "n", .tokens = 5};
  const std::vector<KlFileRow> rows = kl_rows(read_kl_file(write(line({"p", 64, {}}, never, 0))));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].summary.texts, 0);
  EXPECT_EQ(rows[0].summary.positions, 0);
}

TEST_F(KlLines, TheFloorIsTheLargestOfTheFullCacheAgainstItself) {
  const std::string content = simple("full, other chunk size", 0, 0) + simple("full, f32 rows", 0, 0.25) +
                              simple("p", 64, 0.5) + simple("p", 64, 0.5, "cafe");
  const std::vector<KlFileRow> rows = kl_rows(read_kl_file(write(content)));
  EXPECT_EQ(noise_floor(rows, "f00d"), 0.25);
  EXPECT_FALSE(noise_floor(rows, "cafe").has_value());
}

TEST_F(KlLines, ATornLastLineIsLeftOut) {
  for (const std::string torn : {"{\"policy\": \"p", "{\"policy\": \"p\n", "{}"}) {
    const KlFile file = read_kl_file(write(simple("p", 64, 0.5) + torn));
    EXPECT_EQ(file.lines.size(), 1u);
    EXPECT_TRUE(file.torn) << torn;
  }
}

TEST_F(KlLines, OtherFilesAreNamed) {
  EXPECT_NE(error_of("# A text\n\nof another kind\n").find("kl.jsonl:1: not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("# A text\n\nof another kind\n").find("eval kl --out"), std::string::npos);
  EXPECT_NE(error_of("").find("holds no line"), std::string::npos);
  EXPECT_NE(error_of("{\"a\": 1}\n").find("kl.jsonl:1: \"model\" is missing"), std::string::npos);
  EXPECT_NE(error_of("[1, 2]\n").find("kl.jsonl:1:"), std::string::npos);
  EXPECT_NE(error_of(result_line(result("p", 50, "a", true), {})).find("give its folder"), std::string::npos);
  EXPECT_THROW(read_kl_file("/nowhere.jsonl"), Error);
}

TEST_F(KlLines, ValuesThatCannotBeAreNamed) {
  const std::vector<std::pair<const char*, json>> cases = {
      {"kl_mean", -1},     {"kl_max", 1e300}, {"same_top", 1.5}, {"budget", -3},
      {"positions", 1e15}, {"kl_mean", "x"},  {"policy", 3}};
  for (const auto& [key, value] : cases) {
    json object = json::parse(simple("p", 64, 0.5));
    object[key] = value;
    const std::string error = error_of(simple("p", 64, 0.5) + object.dump() + "\n");
    EXPECT_NE(error.find(std::string("kl.jsonl:2: \"") + key), std::string::npos) << error;
  }
}

TEST_F(KlLines, PanelsKeepModelsApartAndNameFilesWhereTheyMust) {
  const std::vector<KlFile> files = {
      read_kl_file(write(
          simple("p", 128, 0.25) + simple("p", 64, 0.5) + simple("q", 64, 0.5) + simple("p", 64, 1, "cafe"),
          "one")),
      read_kl_file(write(simple("p", 64, 0.75) + simple("r", 64, 0.5), "two"))};
  const std::vector<std::vector<KlFileRow>> rows = {kl_rows(files[0]), kl_rows(files[1])};
  const std::vector<KlPanel> panels = kl_panels_of(files, rows);
  ASSERT_EQ(panels.size(), 2u);
  ASSERT_EQ(panels[0].series.size(), 4u);
  EXPECT_EQ(panels[0].series[0].label, "p · " + (folder_ / "one"));
  EXPECT_EQ(panels[0].series[1].label, "q");
  EXPECT_EQ(panels[0].series[2].label, "p · " + (folder_ / "two"));
  ASSERT_EQ(panels[0].series[0].rows.size(), 2u);
  EXPECT_EQ(panels[0].series[0].rows[0]->budget, 64) << "by growing budget";
  EXPECT_TRUE(panels[0].same_texts);
  EXPECT_EQ(panels[1].model, "cafe");
  EXPECT_EQ(panels[1].series.size(), 1u);
}

}  // namespace
}  // namespace vase::eval::report
