// Texts that were made to hurt: answered, in bounded depth and time. A test that recurses without limit or takes
// quadratic time does not come back.
#include <gtest/gtest.h>

#include "eval/grading/answer.h"
#include "eval/grading/reader.h"

namespace vase::eval {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

std::string repeated(const std::string& text, size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

const std::vector<std::string> kPieces = {"{",
                                          "}",
                                          "(",
                                          "[",
                                          "|",
                                          "\\{",
                                          "\\frac",
                                          "\\frac{",
                                          "\\frac{1}{",
                                          "\\sqrt{",
                                          "\\sqrt[",
                                          "\\left(",
                                          "\\boxed{",
                                          "\\boxed",
                                          "\\boxed ",
                                          "\\text{",
                                          "\\begin{pmatrix}",
                                          "^",
                                          "^{",
                                          "_{",
                                          "-",
                                          "+",
                                          "\\pm",
                                          "!",
                                          "'",
                                          "%",
                                          "x",
                                          "9",
                                          "9^",
                                          "9!",
                                          "9^{9",
                                          "\\sin ",
                                          "\\sin^",
                                          "\\log_",
                                          "a/",
                                          "1,",
                                          "1 ",
                                          "answer is ",
                                          "answer: ",
                                          "answer",
                                          "#### ",
                                          "```\n",
                                          "<think>",
                                          "</think>",
                                          "\\",
                                          "\\\\",
                                          "&",
                                          "$",
                                          " ",
                                          "\n",
                                          ",",
                                          "\xff",
                                          "\xe2\x88",
                                          "²",
                                          "√",
                                          "\\cup ",
                                          "1 \\pm ",
                                          "\\{1,",
                                          "(1,",
                                          "x=",
                                          "x<",
                                          "\\binom{9",
                                          "\\overline{",
                                          "\\angle ",
                                          "{}",
                                          "e^",
                                          "i",
                                          "."};

TEST(Hostile, MegabytesOfOnePiece) {
  for (const std::string& piece : kPieces) {
    const std::string text = repeated(piece, 2 * kMebibyte);
    for (const AnswerKind kind : {AnswerKind::kMath, AnswerKind::kChoice, AnswerKind::kCode}) {
      if (const auto answer = extract_answer(text, kind)) EXPECT_LE(answer->size(), text.size());
      EXPECT_FALSE(same_answer(text, "5", kind)) << piece;
      EXPECT_FALSE(same_answer("5", text, kind) && piece != " " && piece != "\n") << piece;
    }
  }
}

TEST(Hostile, NestedAsDeepAsTheReaderTakes) {
  for (const std::string& piece : kPieces) {
    const std::string text = repeated(piece, grading::kLongestAnswer - piece.size());
    for (const std::string& tail : {"", "1", "x", "1}", "1)"}) {
      const std::string answer = text + tail;
      EXPECT_NO_THROW(same_answer(answer, "5", AnswerKind::kMath)) << piece;
      EXPECT_NO_THROW(same_answer(answer, answer + " ", AnswerKind::kMath)) << piece;
      EXPECT_NO_THROW(same_answer(answer + "+0", answer, AnswerKind::kMath)) << piece;
    }
  }
}

std::string nested(const std::string& begin, const std::string& middle, const std::string& end, int depth) {
  std::string all;
  for (int i = 0; i < depth; ++i) all += begin;
  all += middle;
  for (int i = 0; i < depth; ++i) all += end;
  return all;
}

TEST(Hostile, BracketsHaveALimit) {
  EXPECT_TRUE(same_answer(nested("(", "5", ")", 12), "5", AnswerKind::kMath));
  EXPECT_TRUE(same_answer(nested("\\sqrt{", "1", "}", 12), "1", AnswerKind::kMath));
  EXPECT_FALSE(readable_answer(nested("(", "5", ")", 500), AnswerKind::kMath));
  EXPECT_FALSE(readable_answer(nested("{", "5", "}", 500), AnswerKind::kMath));
  EXPECT_TRUE(same_answer(nested("(", "5", ")", 500), nested("(", "5", ")", 500), AnswerKind::kMath));  // the same text
  // Sets within sets are compared in the time that their sizes take, not twice as long with each level.
  EXPECT_TRUE(same_answer(nested("\\{", "1, 2", "\\}", 20), nested("\\{", "2, 1", "\\}", 20), AnswerKind::kMath));
  EXPECT_FALSE(same_answer(nested("\\{", "1, 2", "\\}", 20), nested("\\{", "2, 3", "\\}", 20), AnswerKind::kMath));
}

TEST(Hostile, NumbersHaveNoLimit) {
  EXPECT_FALSE(same_answer("9^{9^{9^{9^9}}}", "5", AnswerKind::kMath));
  EXPECT_FALSE(same_answer("999999999!", "5", AnswerKind::kMath));
  EXPECT_FALSE(same_answer("\\binom{999999999}{99999999}", "5", AnswerKind::kMath));
  EXPECT_FALSE(same_answer(std::string(1900, '9'), std::string(1899, '9') + "8", AnswerKind::kMath));
  EXPECT_TRUE(same_answer("2^{1000000}\\cdot 2", "2^{1000001}", AnswerKind::kMath));
}

TEST(Hostile, LongAnswersAreText) {
  const std::string terms = repeated("x+", grading::kLongestAnswer) + "1";
  EXPECT_FALSE(readable_answer(terms, AnswerKind::kMath));
  EXPECT_TRUE(same_answer(terms, terms, AnswerKind::kMath));
  EXPECT_FALSE(same_answer("1+" + terms, terms, AnswerKind::kMath));
}

}  // namespace
}  // namespace vase::eval
