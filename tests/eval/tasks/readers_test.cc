// The data sets' own formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "data_file.h"
#include "eval/sandbox/code_tests.h"

namespace vase::eval {
namespace {

TEST(Gsm8k, OfficialRecords) {
  const Task task =
      read_data("gsm8k", ".jsonl",
                "{\"question\": \"How many?\", \"answer\": \"2 + 2 = <<2+2=4>>4 #### no\\n#### 2,125 \"}\n"
                "{\"question\": \"And?\", \"answer\": \"#### -3\"}\n");
  ASSERT_EQ(task.problems.size(), 2u);
  EXPECT_EQ(task.instruction, " Put your final answer within \\boxed{}.");
  EXPECT_EQ(task.problems[0].problem, "How many?");
  EXPECT_EQ(task.problems[0].answer, "2,125");
  EXPECT_EQ(task.problems[0].id, "gsm8k-0");
  EXPECT_EQ(task.problems[1].answer, "-3");
  EXPECT_EQ(task.problems[1].id, "gsm8k-1");
}

TEST(Math500, OfficialRecords) {
  const Task task =
      read_data("math-500", ".jsonl",
                R"({"problem": "P", "solution": "S \\boxed{9}", "answer": "\\frac{1}{2}", "subject": "Algebra",)"
                R"( "level": 2, "unique_id": "test/algebra/1.json"})");
  ASSERT_EQ(task.problems.size(), 1u);
  EXPECT_EQ(task.problems[0].id, "test/algebra/1.json");
  EXPECT_EQ(task.problems[0].answer, "\\frac{1}{2}");
  EXPECT_EQ(task.instruction, "\nPlease reason step by step, and put your final answer within \\boxed{}.");
}

TEST(Competitions, FieldsAsTheDataSetsNameThem) {
  const struct {
    const char *record, *id, *answer;
  } cases[] = {
      {R"({"id": 60, "problem": "P", "solution": "\\boxed{204}", "url": "u"})", "60", "204"},
      {R"({"id": "0", "problem": "P", "answer": "70"})", "0", "70"},
      {R"({"problem_idx": 7, "problem": "P", "answer": 588, "problem_type": ["Geometry"]})", "7", "588"},
      {R"({"ID": "2024-I-1", "Problem": "P", "Solution": "...", "Answer": 204})", "2024-I-1", "204"},
      {R"({"question": "P", "answer": "70"})", "aime25-0", "70"},
      {R"({"id": 1, "problem": " P\n", "answer": "\\frac{9 \\sqrt{23}}{23}"})", "1", "\\frac{9 \\sqrt{23}}{23}"},
      {R"({"id": null, "problem": "P", "answer": 0.5})", "aime25-0", "0.5"},
      {R"({"id": null, "problem": "P", "answer": 1.5e3})", "aime25-0", "1500"},
      {R"({"id": null, "problem": "P", "answer": -0.123456789012345})", "aime25-0", "-0.123456789012345"},
  };
  for (const auto& c : cases) {
    const Task task = read_data("aime25", ".jsonl", c.record);
    ASSERT_EQ(task.problems.size(), 1u);
    EXPECT_EQ(task.problems[0].id, c.id);
    EXPECT_EQ(task.problems[0].answer, c.answer);
    EXPECT_EQ(task.problems[0].problem, "P");
  }
}

constexpr const char* kGpqaHead =
    "Pre-Revision Question,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,"
    "Incorrect Answer 3,Record ID\n";

std::string gpqa_row(const std::string& id) { return "x,\"Which,\none?\",right,wrong 1,wrong 2,wrong 3," + id + "\n"; }

TEST(Gpqa, TheLetterIsThatOfTheRightAnswer) {
  const Task task = read_data("gpqa-diamond", ".csv", kGpqaHead + gpqa_row("rec1"));
  ASSERT_EQ(task.problems.size(), 1u);
  EXPECT_EQ(task.kind, AnswerKind::kChoice);
  const Problem& p = task.problems[0];
  EXPECT_EQ(p.id, "rec1");
  EXPECT_TRUE(p.problem.starts_with("Which,\none?\n\nA) ")) << p.problem;
  EXPECT_NE(p.problem.find("\n" + p.answer + ") right"), std::string::npos) << p.problem << p.answer;
  for (const char* choice : {") wrong 1", ") wrong 2", ") wrong 3"})
    EXPECT_NE(p.problem.find(choice), std::string::npos);
}

TEST(Gpqa, TheRecordDecidesTheOrder) {
  std::string rows = kGpqaHead, backwards = kGpqaHead;
  constexpr int kRows = 400;
  for (int i = 0; i < kRows; ++i) rows += gpqa_row("rec" + std::to_string(i));
  for (int i = kRows; i-- > 0;) backwards += gpqa_row("rec" + std::to_string(i));
  const Task task = read_data("gpqa-diamond", ".csv", rows), again = read_data("gpqa-diamond", ".csv", backwards);
  std::array<int, 4> letters{};
  std::set<std::string> orders;
  for (int i = 0; i < kRows; ++i) {
    EXPECT_EQ(task.problems[i].problem, again.problems[kRows - 1 - i].problem);
    ++letters[task.problems[i].answer[0] - 'A'];
    orders.insert(task.problems[i].problem);
  }
  EXPECT_EQ(orders.size(), 24u);                                // every one of them comes
  for (int count : letters) EXPECT_NEAR(count, kRows / 4, 35);  // 4 standard deviations
}

TEST(Gpqa, BrokenRows) {
  const auto error = error_of(
      [] { read_data("gpqa-diamond", ".csv", std::string(kGpqaHead) + "x,\"Which,\none?\",right\nwrong,w,w,rec1\n"); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find(".csv:2: 3 cells"), std::string::npos) << error->what();
}

TEST(LiveCodeBench, TestsAreKeptAndProgramsAskedFor) {
  const std::string record =
      R"({"question_id": "abc", "question_content": "Add.", "starter_code": "", "difficulty": "medium", "metadata":)"
      R"( "{}",)"
      R"( "public_test_cases": "[{\"input\": \"1 2\", \"output\": \"3\", \"testtype\": \"stdin\"}]",)"
      R"( "private_test_cases":)"
      R"( "eJxrYJlaxQABPWXR1UqZeQWlJUpWCkrGCiYxeUo6Ckr5pSVQIXOIQElqcUlJZUEqSKi4JCUzT6lWRwFJp6GBgq4Rul4LnHpjp+gBALZQJtA)"
      R"(="})";
  const std::string method =
      R"({"question_id": "two", "question_content": "Call.", "starter_code": "class Solution:\n    def f(self):",)"
      R"( "difficulty":)"
      R"( "easy", "metadata": "{\"func_name\": \"f\"}", "public_test_cases":)"
      R"( "[{\"input\": \"1\", \"output\": \"2\", \"testtype\": \"functional\"}]", "private_test_cases": "[]"})";
  const Task task = read_data("livecodebench", ".jsonl", record + "\n" + method);
  ASSERT_EQ(task.problems.size(), 2u);
  EXPECT_EQ(task.kind, AnswerKind::kCode);
  EXPECT_EQ(parse_code_tests(task.problems[0].tests).tests.size(), 3u);
  EXPECT_NE(task.problems[0].problem.find("standard input"), std::string::npos);
  EXPECT_EQ(parse_code_tests(task.problems[1].tests).function, "f");
  EXPECT_NE(task.problems[1].problem.find("    def f(self):\n```"), std::string::npos) << task.problems[1].problem;
  // What stands behind the first problems is not unpacked.
  const std::string broken = R"({"question_id": "three", "question_content": "Q", "public_test_cases": "no tests"})";
  const DataFile file(".jsonl", record + "\n" + method + "\n" + broken);
  EXPECT_EQ(error_of([&] { read_task("livecodebench", file.path()); })->code(), ErrorCode::kCorrupt);
  EXPECT_EQ(read_task("livecodebench", file.path(), 2).problems.size(), 2u);
  EXPECT_EQ(open_task("livecodebench=" + file.path(), 1, 0, 1).problems.size(), 1u);
  const Task medium = read_data("livecodebench-medium", ".jsonl", record + "\n" + method);
  ASSERT_EQ(medium.problems.size(), 1u);
  EXPECT_EQ(medium.problems[0].id, "abc");
}

TEST(Jsonl, NeedsAllThreeFields) {
  const Task task = read_data("jsonl", ".jsonl", R"({"id": 3, "problem": "P", "answer": 4, "more": [1]})");
  EXPECT_EQ(task.problems.at(0).id, "3");
  EXPECT_EQ(task.problems[0].answer, "4");
}

struct BadCase {
  const char *task, *extension, *text, *message;
};

TEST(Readers, BadRecordsAreNamed) {
  const BadCase cases[] = {
      {"jsonl", ".jsonl", R"({"id": "a", "problem": "P"})", ":1: needs \"answer\""},
      {"jsonl", ".jsonl", R"({"problem": "P", "answer": "1"})", ":1: needs \"id\""},
      {"jsonl", ".jsonl", R"({"id": "a", "problem": "  ", "answer": "1"})", ":1: \"problem\" is empty"},
      {"jsonl", ".jsonl", R"({"id": "a", "problem": "P", "answer": true})",
       ":1: \"answer\" must be a text or a number"},
      {"jsonl", ".jsonl", R"({"id": "a", "problem": "P", "answer": 1e-7})", ":1: the number of \"answer\""},
      {"jsonl", ".jsonl", R"({"id": "a", "problem": "P", "answer": 0.1234567890123456})", ":1: the number of \"answer\""},
      {"jsonl", ".jsonl", R"({"id": "a", "problem": "P", "answer": 12345678901234567890123})",
       ":1: the number of \"answer\""},
      {"jsonl", ".jsonl", R"({"id": "a", "problem": ["P"], "answer": "1"})",
       ":1: \"problem\" must be a text or a number"},
      {"gsm8k", ".jsonl", R"({"question": "Q", "answer": "18"})", ":1: \"answer\" does not end in \"#### N\""},
      {"gsm8k", ".jsonl", R"({"question": "Q", "answer": "so ####  "})", ":1: nothing stands behind"},
      {"gsm8k", ".jsonl", R"({"answer": "#### 1"})", ":1: needs \"question\""},
      {"math-500", ".jsonl", R"({"problem": "P", "answer": ""})", ":1: \"answer\" is empty"},
      {"aime24", ".jsonl", R"({"problem": "P"})", ":1: needs \"answer\""},
      {"aime24", ".jsonl", R"({"problem": "P", "solution": "thus 5"})", "no \\boxed{}"},
      {"aime24", ".jsonl", R"({"problem": "P", "solution": "\\boxed{5"})", ":1: the \\boxed{}"},
      {"gpqa-diamond", ".csv", "Question,Record ID\nQ,r\n", ":2: needs \"Correct Answer\""},
      {"gpqa-diamond", ".jsonl", R"({"id": "a", "problem": "P", "answer": "K"})", ":1: \"answer\" must be one letter"},
      {"livecodebench", ".jsonl", R"({"question_id": "a", "question_content": "Q", "public_test_cases": "[]"})",
       ":1: tests: there are none"},
      {"livecodebench", ".jsonl",
       R"({"question_id": "a", "question_content": "Q", "public_test_cases": "[]", "metadata": "x"})",
       ":1: \"metadata\" is not a JSON object"},
      {"livecodebench-medium", ".jsonl", R"({"difficulty": "hard"})", "holds no problems"},
  };
  for (const BadCase& c : cases) {
    const auto error = error_of([&] { read_data(c.task, c.extension, c.text); });
    ASSERT_TRUE(error) << c.text;
    EXPECT_EQ(error->code(), ErrorCode::kCorrupt) << c.text;
    EXPECT_NE(std::string(error->what()).find(c.message), std::string::npos) << error->what();
  }
}

TEST(Readers, IdsMustDiffer) {
  const std::string line = R"({"id": "same", "problem": "P", "answer": "1"})";
  const auto error = error_of([&] { read_data("jsonl", ".jsonl", line + "\n\n" + line + "\n"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
  EXPECT_NE(std::string(error->what()).find(".jsonl:3: the id \"same\""), std::string::npos) << error->what();
}

TEST(Readers, EmptyFiles) {
  for (const char* extension : {".jsonl", ".json", ".csv"}) {
    const auto error = error_of([&] { read_data("jsonl", extension, "\n"); });
    ASSERT_TRUE(error) << extension;
    EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
    EXPECT_NE(std::string(error->what()).find("holds no problems"), std::string::npos) << error->what();
  }
}

TEST(Readers, TasksThatDoNotExist) {
  const auto unknown = error_of([] { read_task("gsm9k", "x.jsonl"); });
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->code(), ErrorCode::kUsage);
  EXPECT_NE(std::string(unknown->what()).find("gsm8k"), std::string::npos);
  EXPECT_EQ(error_of([] { read_task("chain", "x.jsonl"); })->code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of([] { open_task("gsm8k", 1, 0); })->code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of([] { open_task("gsm8k=", 1, 0); })->code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of([] { open_task("gsm8k=/no/such.jsonl", 1, 0); })->code(), ErrorCode::kNotFound);
}

TEST(Readers, EveryTaskIsListedOnce) {
  std::set<std::string> names;
  for (const TaskInfo& task : known_tasks()) {
    EXPECT_TRUE(names.insert(task.name).second) << task.name;
    EXPECT_FALSE(task.summary.empty());
    EXPECT_EQ(is_procedural(task.name), task.procedural);
  }
  for (const char* name :
       {"gsm8k", "math-500", "aime24", "aime25", "aime26", "hmmt", "gpqa-diamond", "livecodebench", "jsonl"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace vase::eval
