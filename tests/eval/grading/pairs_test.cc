// Answers that are the same and answers that are not: those of pairs.jsonl, which scripts/compare-graders also gives to
// math-verify, and those of the data sets.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "eval/grading/answer.h"

namespace vase::eval {
namespace {

using nlohmann::json;

std::vector<json> read_lines(const std::string& path) {
  std::ifstream in(path);
  std::vector<json> all;
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

TEST(Pairs, AreTheSameOrNot) {
  const std::vector<json> pairs = read_lines(VASE_GRADING_PAIRS);
  ASSERT_GT(pairs.size(), 250u);
  for (const json& pair : pairs) {
    const std::string given = pair["given"], expected = pair["expected"];
    EXPECT_EQ(same_answer(given, expected, AnswerKind::kMath), pair["same"]) << given << "   expected: " << expected;
  }
}

TEST(Pairs, SamenessHasNoDirection) {
  for (const json& pair : read_lines(VASE_GRADING_PAIRS)) {
    const std::string given = pair["given"], expected = pair["expected"];
    if (given.empty()) continue;
    EXPECT_EQ(same_answer(expected, given, AnswerKind::kMath), pair["same"]) << expected << "   expected: " << given;
  }
}

TEST(Pairs, WhiteSpaceAndSizesOfBracketsDoNotCount) {
  for (const json& pair : read_lines(VASE_GRADING_PAIRS)) {
    const std::string answer = pair["expected"];
    EXPECT_TRUE(readable_answer(answer, AnswerKind::kMath)) << answer;
    EXPECT_TRUE(same_answer(" " + answer + "\n", answer, AnswerKind::kMath)) << answer;
    EXPECT_TRUE(same_answer("{ " + answer + " }", answer, AnswerKind::kMath)) << answer;
    EXPECT_TRUE(same_answer("\\displaystyle " + answer, answer, AnswerKind::kMath)) << answer;
  }
}

TEST(Pairs, WhatCannotBeReadEqualsItsOwnText) {
  for (const std::string answer :
       {"\\sum_{k=1}^n k", "x \\equiv 3 \\pmod 5", "}{", "\\frac{1}{", "5 6", "\\begin{cases} 1 \\end{cases}"}) {
    EXPECT_FALSE(readable_answer(answer, AnswerKind::kMath)) << answer;
    EXPECT_TRUE(same_answer(answer, "  " + answer, AnswerKind::kMath)) << answer;
    EXPECT_FALSE(same_answer(answer, answer + "1", AnswerKind::kMath)) << answer;
    EXPECT_FALSE(same_answer("5", answer, AnswerKind::kMath)) << answer;
  }
  EXPECT_FALSE(same_answer("", "", AnswerKind::kMath));
  EXPECT_FALSE(readable_answer(" ", AnswerKind::kMath));
}

// Every answer of the data sets is read, equals itself in other brackets, and differs from those of other problems
// wherever a plain comparison of numbers says so.
class DataAnswers : public testing::TestWithParam<const char*> {};

TEST_P(DataAnswers, AreReadAndToldApart) {
  const std::string path = std::string(VASE_SHARED_DATA) + "/" + GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  std::vector<std::string> answers;
  for (const json& problem : read_lines(path)) answers.push_back(problem["answer"]);
  for (const std::string& answer : answers) {
    EXPECT_TRUE(readable_answer(answer, AnswerKind::kMath)) << answer;
    EXPECT_TRUE(same_answer("{" + answer + "}", answer, AnswerKind::kMath)) << answer;
  }
  const auto is_number = [](const std::string& text) {
    return text.find_first_not_of("0123456789") == std::string::npos;
  };
  for (size_t i = 1; i < answers.size(); ++i) {
    const std::string &a = answers[i - 1], &b = answers[i];
    if (is_number(a) && is_number(b))
      EXPECT_EQ(same_answer(a, b, AnswerKind::kMath), std::stoll(a) == std::stoll(b)) << a << " " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, DataAnswers,
                         testing::Values("gsm8k.jsonl", "math500.jsonl", "aime24.jsonl", "aime25.jsonl", "aime26.jsonl",
                                         "hmmt.jsonl"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, std::string(info.param).find('.'));
                         });

}  // namespace
}  // namespace vase::eval
