// From a text to a grade, and answers that no text could match.
#include "eval/run/grade.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run_helpers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

Result graded(const std::string& text, const std::string& finish = "eos", bool thinking = false) {
  const Source s = source("a", 6);
  const Planned planned{.item = {}, .task = &s.task, .problem = &s.task.problems[5]};
  Result r;
  r.finish = finish;
  Grader grader({});
  grade(r, {.text = text, .thinking = thinking}, planned, grader);
  return r;
}

TEST(Grade, ARightTextIsRight) {
  const Result r = graded("so it is \\boxed{5.0}");
  EXPECT_TRUE(r.right);
  EXPECT_EQ(r.extracted, "5.0");
  EXPECT_EQ(r.label, "ok");
}

TEST(Grade, AWrongOneIsNot) { EXPECT_FALSE(graded("\\boxed{6}").right); }

TEST(Grade, WithoutAnAnswerNothingIsRight) {
  const Result r = graded("I wonder", "length");
  EXPECT_FALSE(r.right);
  EXPECT_EQ(r.extracted, std::nullopt);
  EXPECT_EQ(r.label, "truncated");
}

TEST(Grade, ALoopThatWasStoppedIsOneAndIsNotEnded) {
  const Result r = graded("\\boxed{5} and more", "repetition");
  EXPECT_TRUE(r.right);
  EXPECT_EQ(r.label, "loop");
  EXPECT_FALSE(r.ended());
}

TEST(Grade, AGuessInThinkingThatThePromptHasOpenedIsNoAnswer) {
  for (const char* finish : {"eos", "length"}) {
    const Result r = graded("perhaps \\boxed{5}", finish, true);
    EXPECT_FALSE(r.right);
    EXPECT_EQ(r.extracted, std::nullopt);
    EXPECT_EQ(r.label, "truncated") << finish;
  }
  const Result finished = graded("perhaps \\boxed{6}</think> \\boxed{5}", "eos", true);
  EXPECT_TRUE(finished.right);
  EXPECT_EQ(finished.label, "ok");
}

std::string refusal(const Source& one) {
  RunPlan plan;
  plan.sources.push_back(one);
  Grader grader({});
  try {
    check_answers(plan, grader);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
    return e.what();
  }
  return "";
}

TEST(CheckAnswers, WhatTheGraderCannotReadIsNamedWithItsLine) {
  const TemporaryFolder folder;
  const std::string path = folder / "mine.jsonl";
  std::ofstream(path) << R"({"id": "x", "problem": "p", "answer": "\\frac{1}{2}"})" << "\n"
                      << R"({"id": "y", "problem": "q", "answer": "\\frac{1"})" << "\n";
  const std::string message = refusal(open_source("jsonl=" + path, 1, 0));
  EXPECT_NE(message.find(path + ":2, problem y: the grader own cannot read the answer '\\frac{1'"),
            std::string::npos)
      << message;
}

TEST(CheckAnswers, GoodOnesPassAndProgramsHaveNone) {
  EXPECT_EQ(refusal(source("a", 6)), "");
  Source code = source("c", 1, AnswerKind::kCode);
  code.task.problems[0].answer = "";
  EXPECT_EQ(refusal(code), "");
}

// A program in place of an interpreter that has math-verify.
std::string python_of(const TemporaryFolder& folder, const std::string& script) {
  const std::string python = folder / "python";
  std::ofstream(python) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  return python;
}

// It ends at every pair but that of two equal 5.
TEST(Grade, WithoutAVerdictATextIsNotJudged) {
  const TemporaryFolder folder;
  const std::string python =
      python_of(folder,
                "echo '{\"version\": \"9.9\"}'\n"
                "read -r line; case $line in *5*5*) echo '{\"same\": true}'; read -r line;; esac\n");
  Grader grader({.math_verify = true, .package = {.python = python}});
  RunPlan plan;
  plan.sources.push_back(source("a", 6));
  const Planned planned{
      .item = {}, .task = &plan.sources[0].task, .problem = &plan.sources[0].task.problems[5]};
  Result r;
  EXPECT_EQ(grade(r, {.text = "\\boxed{6}"}, planned, grader).find("math-verify took too long for the answer '6'"), 0u);
  EXPECT_FALSE(r.right);
  EXPECT_FALSE(r.judged);
  EXPECT_EQ(r.extracted, "6");
  Result next;
  EXPECT_EQ(grade(next, {.text = "\\boxed{5}"}, planned, grader), "");
  EXPECT_TRUE(next.right);
  EXPECT_TRUE(next.judged);
  try {
    check_answers(plan, grader);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("a, problem a-0: math-verify took too long for the answer '0'"), 0u)
        << e.what();
  }
}

// It ends at the first pair, and is not ready in time when it is started anew.
TEST(Grade, AGraderThatNoLongerStartsIsAnError) {
  const TemporaryFolder folder;
  const std::string python = python_of(folder, "mkdir " + (folder / "started") +
                                                   " 2>/dev/null || sleep 600; echo '{\"version\": \"9.9\"}'; read -r line\n");
  Grader grader({.math_verify = true, .package = {.python = python, .start_seconds = 3}});
  const Source s = source("a", 6);
  Result r;
  try {
    grade(r, {.text = "\\boxed{5}"}, {.item = {}, .task = &s.task, .problem = &s.task.problems[5]}, grader);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kResource);
    EXPECT_NE(std::string(e.what()).find("did not load math-verify in 3 s"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(r.judged);
  EXPECT_EQ(r.extracted, "5");
}

TEST(Grade, ProgramsAreRunOnTheirTestsIfThatIsAllowed) {
  Source s = source("c", 1, AnswerKind::kCode);
  Problem& problem = s.task.problems[0];
  problem.tests = nlohmann::json({{"function", ""},
                                  {"public", R"([{"input": "3\n", "output": "9\n", "testtype": "stdin"}])"},
                                  {"private", ""}})
                      .dump();
  EXPECT_THROW(Grader({}).right("print(9)", problem, AnswerKind::kCode), Error);
  std::optional<Grader> grader;
  try {
    grader.emplace(GraderOptions{.run_code = true});
  } catch (const Error& e) {
    GTEST_SKIP() << "programs cannot be run here: " << e.what();
  }
  EXPECT_TRUE(grader->right("print(int(input()) ** 2)", problem, AnswerKind::kCode));
  EXPECT_FALSE(grader->right("print(int(input()) + 2)", problem, AnswerKind::kCode));
}

}  // namespace
}  // namespace vase::eval
