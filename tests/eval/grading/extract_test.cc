// Where the final answer of a completion is found.
#include <gtest/gtest.h>

#include "eval/grading/answer.h"

namespace vase::eval {
namespace {

std::string math(const std::string& completion) {
  return extract_answer(completion, AnswerKind::kMath).value_or("none");
}
std::string choice(const std::string& completion) {
  return extract_answer(completion, AnswerKind::kChoice).value_or("none");
}
std::string code(const std::string& completion) {
  return extract_answer(completion, AnswerKind::kCode).value_or("none");
}

TEST(Extract, TheLastBox) {
  EXPECT_EQ(math("So \\boxed{5}."), "5");
  EXPECT_EQ(math("\\boxed{4} no, \\boxed{ 5 }"), "5");
  EXPECT_EQ(math("\\boxed{\\frac{1}{2}} and more {text}"), "\\frac{1}{2}");
  EXPECT_EQ(math("\\fbox{7}"), "7");
  EXPECT_EQ(math("\\boxed {7}"), "7");
  EXPECT_EQ(math("\\boxed{x = \\boxed{5}}"), "5");
  EXPECT_EQ(math("\\boxed{\\{1, 2\\}}"), "\\{1, 2\\}");
  EXPECT_EQ(math("\\boxed{\\left\\{ x \\right.}"),
            "\\left\\{ x \\right.");  // a brace behind a backslash needs no partner
  EXPECT_EQ(math("}} \\boxed{5} {{"), "5");
}

TEST(Extract, BoxesThatSayNothing) {
  EXPECT_EQ(math("\\boxed{5} put it within \\boxed{}"), "5");
  EXPECT_EQ(math("\\boxed{5} and \\boxed{6"), "5");  // cut off
  EXPECT_EQ(math("\\boxed"), "none");
  EXPECT_EQ(math(""), "none");
}

TEST(Extract, BehindTheThinking) {
  EXPECT_EQ(math("<think>\\boxed{4}</think> \\boxed{5}"), "5");
  EXPECT_EQ(math("\\boxed{4}</think> The answer is 5."), "5");
  EXPECT_EQ(math("<think>\\boxed{4}"), "none");
  EXPECT_EQ(math("<think>\\boxed{4}</think> I am done"), "none");
}

TEST(Extract, BehindThinkingThatThePromptHasOpened) {
  const auto opened = [](const std::string& completion, AnswerKind kind = AnswerKind::kMath) {
    return extract_answer(completion, kind, true).value_or("none");
  };
  EXPECT_EQ(opened("perhaps \\boxed{4}"), "none");
  EXPECT_EQ(opened("The answer is B", AnswerKind::kChoice), "none");
  EXPECT_EQ(opened("```\nprint(1)\n```", AnswerKind::kCode), "none");
  EXPECT_EQ(opened("perhaps \\boxed{4}</think> \\boxed{5}"), "5");
}

TEST(Extract, WithoutABox) {
  EXPECT_EQ(math("2 + 3 = 5\n#### 5"), "5");
  EXPECT_EQ(math("#### 4\n#### 1,000\nend"), "1,000");
  EXPECT_EQ(math("The answer is 5."), "5");
  EXPECT_EQ(math("The answer is 2.5. So it is."), "2.5");
  EXPECT_EQ(math("The answer is 4. No, the final Answer: **6**"), "6");
  EXPECT_EQ(math("**Answer:** $\\frac{1}{2}$ metres"), "\\frac{1}{2}");
  EXPECT_EQ(math("The answer is\n\n\\[ x = 3 \\]\n"), "x = 3");
  EXPECT_EQ(math("The answer is $18 per day."), "$18 per day");
  EXPECT_EQ(math("answer = 12"), "12");
  EXPECT_EQ(math("The answer issues from 12"), "none");
  EXPECT_EQ(math("The answer is"), "none");
  EXPECT_EQ(math("It is 5"), "none");
  EXPECT_EQ(math("#### 4 \\boxed{5}"), "5");  // the box counts more
}

TEST(Extract, Choices) {
  EXPECT_EQ(choice("\\boxed{C}"), "C");
  EXPECT_EQ(choice("\\boxed{\\text{(B)}}"), "\\text{(B)}");
  EXPECT_EQ(choice("The answer is (D)."), "D");
  EXPECT_EQ(choice("Answer: C"), "C");
  EXPECT_EQ(choice("**Answer:** **B**"), "B");
  EXPECT_EQ(choice("The answer is A. No, the correct answer is option E, since"), "E");
  EXPECT_EQ(choice("The answer is \\textbf{(J)}"), "J");
  EXPECT_EQ(choice("The answer is K"), "none");
  EXPECT_EQ(choice("The answer is Because"), "none");
  EXPECT_EQ(choice("The answer is a mystery"), "none");
  EXPECT_EQ(choice("A or B"), "none");
}

TEST(Extract, Programs) {
  EXPECT_EQ(code("Here:\n```python\nprint(1)\n```\nDone."), "print(1)\n");
  EXPECT_EQ(code("```\na\n```\n```python\nb\nc\n```"), "b\nc\n");
  EXPECT_EQ(code("```python\nprint(1)\n"), "none");
  EXPECT_EQ(code("```python\na\n```\n```python\nb"), "a\n");
  EXPECT_EQ(code("```\n```"), "");
  EXPECT_EQ(code("print(1)"), "none");
}

}  // namespace
}  // namespace vase::eval
