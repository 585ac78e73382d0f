// Grading programs on tests, and comparing outputs.
#include "eval/sandbox/program.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "eval/sandbox/same_number.h"
#include "shared_sandbox.h"

namespace vase::eval {
namespace {

using Pairs = std::vector<std::pair<const char*, const char*>>;

TEST(SameNumber, ComparesDigits) {
  const Pairs equal = {{"1", "1.0"},        {"-2.50", "-2.5"}, {"+3", "3"},  {".5", "0.5"}, {"1e3", "1000"},
                       {"12.5E-1", "1.25"}, {"-0", "0.00"},    {"007", "7"}, {"1.", "1"}};
  for (const auto& [a, b] : equal) {
    EXPECT_TRUE(same_number(a, b)) << a << " " << b;
  }
  const Pairs different = {{"50000000000000000", "50000000000000001"},
                           {"0.1", "0.10000000000000001"},
                           {"1", "-1"},
                           {"1", "10"},
                           {"x", "x"},
                           {"", ""},
                           {"1e", "1"},
                           {"1.2.3", "1.2.3"},
                           {"-", "0"},
                           {"1 ", "1"},
                           {"1e99999999999", "1e99999999999"}};
  for (const auto& [a, b] : different) {
    EXPECT_FALSE(same_number(a, b)) << a << " " << b;
  }
}

TEST(SameOutput, LinesWithoutWhiteSpaceAround) {
  EXPECT_TRUE(same_output("7\n", "7"));
  EXPECT_TRUE(same_output("  a b \r\nc\n\n", "a b\nc"));
  EXPECT_TRUE(same_output("1.0 2", "1.00   2.0"));
  EXPECT_TRUE(same_output("", "\n"));
  EXPECT_FALSE(same_output("a  b", "a b"));  // only numbers are compared word by word
  EXPECT_FALSE(same_output("1\n2", "1 2"));
  EXPECT_FALSE(same_output("1\n\n2", "1\n2"));
  EXPECT_FALSE(same_output("YES", "Yes"));
  EXPECT_FALSE(same_output("x 1.0", "x 1"));
  EXPECT_FALSE(same_output("", "0"));
}

class ProgramGrading : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    SandboxLimits limits;
    limits.milliseconds = 1500;
    made_ = make_sandbox(limits);
  }
  void SetUp() override {
    if (!made_.sandbox) GTEST_SKIP() << made_.reason;
  }

  static ProgramGrade grade(const std::string& program, const CodeTests& tests) {
    return grade_program(*made_.sandbox, program, tests);
  }

  inline static MaybeSandbox made_;
  const CodeTests sums_ = {"", {{"1 2\n", "3\n"}, {"5 -7\n", "-2\n"}, {"0 0\n", "0\n"}}};
  const CodeTests pairs_ = {"pair", {{"[1, 2]\n\"a\"", "[3, \"a\"]"}, {"[]\n\"\"", "[0, \"\"]"}}};
};

TEST_F(ProgramGrading, ProgramsThatReadInput) {
  EXPECT_EQ(grade("a, b = map(int, input().split())\nprint(a + b)", sums_).verdict, ProgramVerdict::kRight);
  EXPECT_EQ(
      grade("def main():\n  print(sum(map(int, sys.stdin.read().split())))\nif __name__ == '__main__': main()", sums_)
          .verdict,
      ProgramVerdict::kRight);
  const ProgramGrade wrong = grade("a, b = map(int, input().split())\nprint(abs(a + b))", sums_);
  EXPECT_EQ(wrong.verdict, ProgramVerdict::kWrongOutput);
  EXPECT_EQ(wrong.failed_test, 1);
}

TEST_F(ProgramGrading, ProgramsThatFail) {
  const ProgramGrade failed = grade("a, b = map(int, input().split())\nprint((a + b) // (a + b) * (a + b))", sums_);
  EXPECT_EQ(failed.verdict, ProgramVerdict::kFailed);
  EXPECT_EQ(failed.failed_test, 2);
  EXPECT_EQ(failed.reason, "ZeroDivisionError: integer division or modulo by zero");
  EXPECT_EQ(grade("this is no Python", sums_).verdict, ProgramVerdict::kFailed);
  EXPECT_EQ(grade("", sums_).verdict, ProgramVerdict::kWrongOutput);
  EXPECT_EQ(grade("while True: pass", sums_).verdict, ProgramVerdict::kTimeout);
}

TEST_F(ProgramGrading, DeepRecursion) {
  EXPECT_EQ(grade("def f(n): return 0 if n == 0 else f(n - 1)\nf(20000)\nprint(sum(map(int, input().split())))", sums_)
                .verdict,
            ProgramVerdict::kRight);
}

TEST_F(ProgramGrading, Functions) {
  const std::string method = "class Solution:\n    def pair(self, a: List[int], b: str):\n        return ";
  EXPECT_EQ(grade(method + "[sum(a), b]", pairs_).verdict, ProgramVerdict::kRight);
  EXPECT_EQ(grade(method + "(sum(a), b)", pairs_).verdict, ProgramVerdict::kRight);  // a tuple for a list
  EXPECT_EQ(grade(method + "print('noise') or [reduce(add, a, 0), b]", pairs_).verdict, ProgramVerdict::kRight);
  EXPECT_EQ(grade("def pair(a, b): return [sum(a), b]", pairs_).verdict, ProgramVerdict::kRight);
  EXPECT_EQ(grade(method + "[len(a), b]", pairs_).verdict, ProgramVerdict::kWrongOutput);
  EXPECT_EQ(grade(method + "object()", pairs_).verdict, ProgramVerdict::kFailed);
  EXPECT_EQ(grade("class Solution: pass", pairs_).verdict, ProgramVerdict::kFailed);
}

TEST_F(ProgramGrading, ResultsThatArePrintedAreNoResults) {
  EXPECT_EQ(grade("import os\nprint('[3, \"a\"]', flush=True)\nos._exit(0)", pairs_).verdict,
            ProgramVerdict::kWrongOutput);
}

}  // namespace
}  // namespace vase::eval
