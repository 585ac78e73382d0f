// Rows of a table compared with the best of them, by numbers worked out by hand.
#include "eval/ranking.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vase::eval {
namespace {

// One position per text, so that the texts' means are the numbers given.
KlRow row(const std::string& name, const std::vector<float>& kl) {
  KlRow row{name, 64, {}, "q8_0", 1048576};
  for (size_t i = 0; i < kl.size(); ++i)
    row.texts.push_back({.text = std::to_string(i), .tokens = 10, .kl = {kl[i]}});
  return row;
}

TEST(Ranking, SortsAndComparesTextByText) {
  // Behind "best" by 0.2, 0.4, 0.3 (mean 0.3, standard deviation 0.1) and by 1.0, -0.1, 0.1 (mean 1/3, variance
  // 1.03/3).
  const std::vector<KlRow> rows = {row("steady", {0.3f, 0.6f, 0.6f}), row("best", {0.1f, 0.2f, 0.3f}),
                                   row("unsteady", {1.1f, 0.1f, 0.4f}), row("never", {})};
  const std::vector<RankedRow> ranked = rank_rows(rows, 0.01);
  ASSERT_EQ(ranked.size(), 3u) << "nothing is said of a row without positions";
  EXPECT_EQ(ranked[0].row, &rows[1]);
  EXPECT_EQ(ranked[0].behind, 0);
  EXPECT_EQ(ranked[1].row, &rows[0]);
  EXPECT_NEAR(ranked[1].behind, 0.3, 1e-6);
  EXPECT_NEAR(ranked[1].behind_error, 0.1 / std::sqrt(3), 1e-6);
  EXPECT_TRUE(ranked[1].told_apart);
  EXPECT_EQ(ranked[2].row, &rows[2]);
  EXPECT_NEAR(ranked[2].behind, 1.0 / 3, 1e-6);
  EXPECT_NEAR(ranked[2].behind_error, std::sqrt(1.03 / 3) / std::sqrt(3), 1e-6);
  EXPECT_FALSE(ranked[2].told_apart) << "0.33 is less than two standard errors";
  EXPECT_FALSE(rank_rows(rows, 0.31)[1].told_apart) << "within the noise floor";
}

// Behind by 0.2, 0.3, 0.7, so by 0.4 ± 0.1528: 2.6 standard errors, and Student's t asks for 4.30 of three texts. Each text twice
// is 0.4 ± 0.0966 of six, 4.1 standard errors of the 2.57 that six need.
TEST(Ranking, FewTextsNeedMoreStandardErrors) {
  const std::vector<KlRow> three = {row("best", {0.1f, 0.1f, 0.1f}), row("behind", {0.3f, 0.4f, 0.8f})};
  EXPECT_NEAR(rank_rows(three, 0)[1].behind_error, 0.1528, 1e-4);
  EXPECT_FALSE(rank_rows(three, 0)[1].told_apart);
  const std::vector<KlRow> six = {row("best", {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f}),
                                  row("behind", {0.3f, 0.4f, 0.8f, 0.3f, 0.4f, 0.8f})};
  EXPECT_TRUE(rank_rows(six, 0)[1].told_apart);
}

TEST(Ranking, OneTextTellsNothingApart) {
  const std::vector<KlRow> rows = {row("a", {0.1f}), row("b", {5})};
  const std::vector<RankedRow> ranked = rank_rows(rows, 0.01);
  EXPECT_NEAR(ranked[1].behind, 4.9, 1e-6);
  EXPECT_FALSE(ranked[1].told_apart);
  EXPECT_TRUE(ranked_json(ranked[1])["behind_error"].is_null());
  const std::string table = ranking_table(ranked, noise_floor_rows({}), 7);
  EXPECT_NE(table.find("4.9000 ± ? (=)"), std::string::npos) << table;
  EXPECT_NE(table.find("one text"), std::string::npos) << table;
}

TEST(Ranking, EqualRowsKeepTheirOrder) {
  const std::vector<KlRow> rows = {row("first", {0.1f, 0.2f}), row("second", {0.1f, 0.2f})};
  EXPECT_EQ(rank_rows(rows, 0)[0].row, &rows[0]);
  EXPECT_FALSE(rank_rows(rows, 0)[1].told_apart);
}

TEST(Ranking, TheTableSaysWhatEachRowCosts) {
  const std::vector<KlRow> rows = {row("a", {0.1f, 0.3f}), row("b", {2, 2.2f})};
  const std::string table = ranking_table(rank_rows(rows, 0.01), noise_floor_rows({}), 48);
  EXPECT_NE(table.find("| q8_0 | a | 64 | 1.00 | 0.2000 ± 0.1000 | - |"), std::string::npos) << table;
  EXPECT_NE(table.find("| q8_0 | b | 64 | 1.00 | 2.1000 ± 0.1000 | 1.9000 ± 0.0000 |"), std::string::npos)
      << table;
  EXPECT_NE(table.find("from 48 on"), std::string::npos) << table;
  EXPECT_EQ(table.find("(=)"), std::string::npos) << table;
  const nlohmann::json json = ranked_json(rank_rows(rows, 0.01)[1]);
  EXPECT_EQ(json["kv_type"], "q8_0");
  EXPECT_EQ(json["kv_bytes"], 1048576);
  EXPECT_EQ(json["told_apart"], true);
}

}  // namespace
}  // namespace vase::eval
