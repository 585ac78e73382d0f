// What the reader makes of notations, shown as nested brackets.
#include "eval/grading/reader.h"

#include <gtest/gtest.h>

namespace vase::eval::grading {
namespace {

std::string shown(const Node& node) {
  constexpr const char* kNames[] = {"",        "",    "sum",   "neg",   "pm",   "prod",  "quot", "pow",    "call",
                                    "percent", "deg", "based", "group", "list", "union", "rel",  "matrix", "text"};
  std::string all = kNames[static_cast<int>(node.kind)];
  all += all.empty() || node.text.empty() ? node.text : ":" + node.text;
  if (node.parts.empty()) return all;
  all += "[";
  for (const Node& part : node.parts) all += (all.back() == '[' ? "" : " ") + shown(part);
  return all + "]";
}

std::string read(const std::string& answer, Commas commas = Commas::kThousands) {
  const auto node = read_answer(answer, commas);
  return node ? shown(*node) : "unreadable";
}

TEST(Reader, ArgumentsOfFractions) {
  EXPECT_EQ(read("\\frac12"), "quot[1 2]");
  EXPECT_EQ(read("\\frac123"), "unreadable");  // one half times 3, or 12/3
  EXPECT_EQ(read("\\frac1{23}"), "quot[1 23]");
  EXPECT_EQ(read("\\frac 5x"), "quot[5 x]");
  EXPECT_EQ(read("1/2x"), "prod[1 quot[1 2] x]");
}

TEST(Reader, MixedNumbers) {
  EXPECT_EQ(read("1\\frac{4}{5}"), "sum[1 quot[4 5]]");
  EXPECT_EQ(read("1 4/5"), "sum[1 quot[4 5]]");
  EXPECT_EQ(read("2\\frac{a}{5}"), "prod[2 quot[a 5]]");
  EXPECT_EQ(read("x\\frac{4}{5}"), "prod[x quot[4 5]]");
  EXPECT_EQ(read("1.5\\frac{4}{5}"), "prod[1.5 quot[4 5]]");
}

TEST(Reader, Thousands) {
  EXPECT_EQ(read("1,234"), "1234");
  EXPECT_EQ(read("1,234", Commas::kSeparate), "list[1 234]");
  EXPECT_EQ(read("1{,}234", Commas::kSeparate), "1234");
  EXPECT_EQ(read("1, 234"), "list[1 234]");
  EXPECT_EQ(read("1,2345"), "list[1 2345]");
  EXPECT_EQ(read("(1,234)"), "group:()[1 234]");
  EXPECT_EQ(read("1234,567"), "list[1234 567]");
}

TEST(Reader, FunctionsTakeWhatFollows) {
  EXPECT_EQ(read("\\sin 2x + 1"), "sum[call:sin[prod[2 x]] 1]");
  EXPECT_EQ(read("\\sin x\\cos x"), "prod[call:sin[x] call:cos[x]]");
  EXPECT_EQ(read("\\sin(x) y"), "prod[call:sin[x] y]");
  EXPECT_EQ(read("\\log_2 8"), "call:log[8 2]");
  EXPECT_EQ(read("\\sin^2 x"), "pow[call:sin[x] 2]");
  EXPECT_EQ(read("\\tan^{-1} x"), "call:arctan[x]");
  EXPECT_EQ(read("2^{-3^2}"), "pow[2 neg[pow[3 2]]]");
}

TEST(Reader, Words) {
  EXPECT_EQ(read("5 apples"), "5");
  EXPECT_EQ(read("5ab"), "prod[5 a b]");
  EXPECT_EQ(read("5 cm^2 + 3 cm^2"), "sum[5 3]");
  EXPECT_EQ(read("ab"), "prod[a b]");
  EXPECT_EQ(read("all real numbers"), "text:all real numbers");
  EXPECT_EQ(read("\\text{ellipse}"), "text:ellipse");
  EXPECT_EQ(read("5 \\text{ if } x"), "5");
  EXPECT_EQ(read("5 \\text{ if } 2x"), "unreadable");
}

TEST(Reader, BracketsAndBars) {
  EXPECT_EQ(read("[1, 2)"), "group:[)[1 2]");
  EXPECT_EQ(read("||x|-1|"), "call:abs[sum[call:abs[x] neg[1]]]");
  EXPECT_EQ(read("2|x|y"), "prod[2 call:abs[x] y]");
  EXPECT_EQ(read("\\{x : x > 2\\}"), "rel:>[x 2]");
  EXPECT_EQ(read("f(x)"), "prod:()[f x]");
  EXPECT_EQ(read("(1, 2"), "unreadable");
  EXPECT_EQ(read("(1, 2\\}"), "unreadable");
  EXPECT_EQ(read("(1]"), "unreadable");
}

TEST(Reader, Numbers) {
  EXPECT_EQ(read("0.1\\overline{6}"), "0.1(6)");
  EXPECT_EQ(read("0.\\overline{3}"), "0.(3)");
  EXPECT_EQ(read("5."), "5");
  EXPECT_EQ(read("2516_{8}"), "based:2516[8]");
  EXPECT_EQ(read("5!"), "call:factorial[5]");
  EXPECT_EQ(read("5.1.2"), "unreadable");
}

}  // namespace
}  // namespace vase::eval::grading
