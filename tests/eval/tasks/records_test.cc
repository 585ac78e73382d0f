// Files of all formats, and files that are none: errors name the file and the line.
#include "eval/tasks/records.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "data_file.h"

namespace vase::eval {
namespace {

std::vector<Record> records_of(const std::string& extension, const std::string& text) {
  const DataFile file(extension, text);
  std::vector<Record> records;
  read_records(file.path(), [&](const Record& record) { records.push_back(record); });
  return records;
}

TEST(Records, Lines) {
  const std::vector<Record> records = records_of(".jsonl", "\xef\xbb\xbf{\"a\": 1}\r\n\n  \n{\"a\": 2}");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].fields["a"], 1);
  EXPECT_EQ(records[1].fields["a"], 2);
  EXPECT_EQ(records[1].number, 1u);
  EXPECT_TRUE(records[1].where.ends_with(".jsonl:4")) << records[1].where;
}

TEST(Records, JsonAsAListOrAsLines) {
  for (const char* text : {"{\"a\": 1}\n{\"a\": 2}\n", " [\n{\"a\": 1},\n{\"a\": 2}]\n"}) {
    const std::vector<Record> records = records_of(".json", text);
    ASSERT_EQ(records.size(), 2u) << text;
    EXPECT_EQ(records[1].fields["a"], 2);
  }
  EXPECT_TRUE(records_of(".json", "[{}, {}]")[1].where.ends_with(", item 2"));
}

TEST(Records, TablesByTheNamesOfTheirColumns) {
  const std::vector<Record> records = records_of(".CSV", "id,text\n1,\"a\nb\"\n2,c\n");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].fields["text"], "a\nb");
  EXPECT_EQ(records[1].fields["id"], "2");
  EXPECT_TRUE(records[1].where.ends_with(":4")) << records[1].where;
}

TEST(Records, MalformedFiles) {
  const struct {
    const char *extension, *text, *message;
  } cases[] = {
      {".jsonl", "{\"a\": 1}\n{\"a\": \n", ":2: not valid JSON"},
      {".jsonl", "{\"a\": \"\xff\"}\n", ":1: not valid JSON"},
      {".jsonl", "[1]\n", ":1: not a JSON object"},
      {".jsonl", "{}\n3\n", ":2: not a JSON object"},
      {".json", "[{}, 4]", ", item 2: not a JSON object"},
      {".json", "[{}", ":1: not a valid list"},
      {".json", "[{},\n\n{\"a\" 1}]", ":3: not a valid list"},
      {".json", "[{\"a\": 1e999}]", ".json: not a valid list"},
      {".csv", "a,b\n1,2\n3\n", ":3: 1 cells, but the first row names 2 columns"},
      {".csv", "a\n\xff\n", ":2: a cell is not valid UTF-8"},
      {".csv", "\na,b,a\n1,2,3\n", ":2: two columns have the name \"a\""},
  };
  for (const auto& c : cases) {
    const auto error = error_of([&] { records_of(c.extension, c.text); });
    ASSERT_TRUE(error) << c.text;
    EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
    EXPECT_NE(std::string(error->what()).find(c.message), std::string::npos) << error->what();
  }
}

TEST(Records, DeepNestingIsNoProblem) {
  const std::string deep(1'000'000, '[');
  EXPECT_TRUE(error_of([&] { records_of(".jsonl", "{\"a\": " + deep); }));
  EXPECT_TRUE(
      error_of([&] { records_of(".jsonl", "{\"a\": " + deep + std::string(deep.size(), ']') + "}"); }));
}

TEST(Records, FilesThatCannotBeRead) {
  const auto ignore = [](const Record&) {};
  const auto missing = error_of([&] { read_records("/no/such.jsonl", ignore); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code(), ErrorCode::kNotFound);
  const std::string folder = test::temporary_path(".jsonl");
  std::filesystem::create_directory(folder);
  const auto directory = error_of([&] { read_records(folder, ignore); });
  std::filesystem::remove(folder);
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->code(), ErrorCode::kNotFound);
  const auto parquet = error_of([&] { read_records("test.parquet", ignore); });
  ASSERT_TRUE(parquet);
  EXPECT_EQ(parquet->code(), ErrorCode::kUnsupported);
  EXPECT_NE(std::string(parquet->what()).find("to_json"), std::string::npos);
  const auto other = error_of([&] { read_records("test.xlsx", ignore); });
  ASSERT_TRUE(other);
  EXPECT_EQ(other->code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace vase::eval
