// Letters of multiple choice.
#include <gtest/gtest.h>

#include "eval/grading/answer.h"

namespace vase::eval {
namespace {

bool same(const std::string& given, const std::string& expected) {
  return same_answer(given, expected, AnswerKind::kChoice);
}

TEST(Choice, NotationDoesNotCount) {
  for (const char* given : {"C", "c", "(C)", "C.", "C)", "\\text{C}", "\\text{(C)}", "\\textbf{(C) }", "\\mathrm{C}",
                            "option C", "Choice (C)", "**C**", "(C) 12", "$C$", "\\boxed{C}", "C: twelve"}) {
    EXPECT_TRUE(same(given, "C")) << given;
    EXPECT_FALSE(same(given, "D")) << given;
  }
}

TEST(Choice, OtherTextIsNoLetter) {
  for (const char* given : {"", "Cat", "C and D", "K", "3", "the", "CD", "\\alpha"}) {
    EXPECT_FALSE(same(given, "C")) << given;
    EXPECT_FALSE(readable_answer(given, AnswerKind::kChoice)) << given;
  }
  EXPECT_TRUE(readable_answer("(J)", AnswerKind::kChoice));
}

}  // namespace
}  // namespace vase::eval
