// Comma-separated values, as RFC 4180 has them.
#include "eval/tasks/csv.h"

#include <gtest/gtest.h>

#include "vase/error.h"

namespace vase::eval {
namespace {

using Cells = std::vector<std::string>;

TEST(Csv, CellsOfEveryKind) {
  const std::vector<CsvRow> rows =
      parse_csv("a,b,c\r\n1,,3\r\n\"x, y\",\"say \"\"hi\"\"\",\"two\nlines\"\n\nlast,\"\",", "f.csv");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].cells, (Cells{"a", "b", "c"}));
  EXPECT_EQ(rows[1].cells, (Cells{"1", "", "3"}));
  EXPECT_EQ(rows[2].cells, (Cells{"x, y", "say \"hi\"", "two\nlines"}));
  EXPECT_EQ(rows[3].cells, (Cells{"last", "", ""}));
}

TEST(Csv, LinesAreCountedThroughCells) {
  const std::vector<CsvRow> rows = parse_csv("a\n\"1\n2\n3\"\n\nb\n", "f.csv");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].line, 1u);
  EXPECT_EQ(rows[1].line, 2u);
  EXPECT_EQ(rows[2].line, 6u);
}

TEST(Csv, EmptyText) {
  EXPECT_TRUE(parse_csv("", "f.csv").empty());
  EXPECT_TRUE(parse_csv("\n\r\n\n", "f.csv").empty());
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    parse_csv(text, "f.csv");
    FAIL() << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(Csv, QuotesThatDoNotFit) {
  expect_error("a,b\n1,\"open\n2,3\n", "f.csv:2: a quote that is opened here is not closed");
  expect_error("a\n\"x\"y\n", "f.csv:2: text stands behind a closing quote");
  expect_error("\"", "f.csv:1: ");
}

}  // namespace
}  // namespace vase::eval
