// `vase eval grade`.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli_fixture.h"

namespace vase {
namespace {

using nlohmann::json;

class EvalGrade : public testing::Test {
 protected:
  ~EvalGrade() override { std::remove(pairs_.c_str()); }

  Outcome grade(const std::string& lines, const std::string& flags = "") {
    std::ofstream(pairs_) << lines;
    return vase("eval grade --pairs " + pairs_ + " " + flags);
  }

  void expect_error(const Outcome& o, int code, const std::string& word) {
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(word), std::string::npos) << o.err;
  }

  const std::string pairs_ = test::temporary_path(".jsonl");
};

TEST_F(EvalGrade, ComparesAnswersAndCompletions) {
  const Outcome o = grade(R"({"given": "0.5", "expected": "\\frac12"}

{"completion": "So it is \\boxed{7}.", "expected": "7"}
{"completion": "I do not know", "expected": "7"}
{"given": "8", "expected": "7"}
)");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "different: no answer, expected: '7'\ndifferent: '8', expected: '7'\n2 of 4 are the same\n");
}

TEST_F(EvalGrade, PrintsALinePerPair) {
  const Outcome o = grade("{\"given\": \"(C)\", \"expected\": \"C\"}\n{\"completion\": \"no\", \"expected\": \"C\"}\n",
                          "--kind choice --json");
  EXPECT_EQ(o.code, 0) << o.err;
  std::istringstream lines(o.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line), (json{{"given", "(C)"}, {"expected", "C"}, {"same", true}}));
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line), (json{{"given", nullptr}, {"expected", "C"}, {"same", false}}));
  EXPECT_EQ(grade(o.out, "--kind choice --json").out, o.out) << "which may be graded again";
}

TEST_F(EvalGrade, NamesTheLineThatIsNoPair) {
  const std::string good = "{\"given\": \"1\", \"expected\": \"1\"}\n";
  expect_error(grade(good + "{\"given\": \"1\"}\n"), 1, pairs_ + ":2: \"expected\"");
  expect_error(grade(good + "\n{\"given\": 1, \"expected\": \"1\"}\n"), 1, pairs_ + ":3: \"given\"");
  expect_error(grade("{\"given\": \"1\", \"completion\": \"1\", \"expected\": \"1\"}\n"), 1, "give one of them");
  expect_error(grade("[1]\n"), 1, ":1: not a JSON object");
  expect_error(grade(""), 1, "holds no pairs");
  expect_error(vase("eval grade --pairs /nowhere.jsonl"), 1, "/nowhere.jsonl");
  expect_error(vase("eval grade"), 2, "--pairs");
  expect_error(grade(good, "--kind letters"), 2, "letters");
  expect_error(grade(good, "--kind choice --grader math-verify"), 2, "--kind choice");
}

TEST_F(EvalGrade, NamesExpectedAnswersThatItCannotRead) {
  const std::string sum = R"("\\sum_{k=1}^n k"})";
  const Outcome o = grade("{\"given\": \"5\", \"expected\": \"5\"}\n{\"given\": \"5\", \"expected\": " + sum +
                          "\n{\"given\": \"5\", \"expected\": \"\"}\n" +
                          R"({"given": "\\sum_{k=1}^n k", "expected": )" + sum + "\n");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.err.find(pairs_ + ":2: the grader own cannot read the expected answer '\\sum_{k=1}^n k'"),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.err.find(pairs_ + ":3: the grader own cannot read the expected answer ''"), std::string::npos)
      << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 2) << o.err;
  EXPECT_NE(o.out.find("2 of 4 are the same"), std::string::npos) << o.out;
}

TEST_F(EvalGrade, APairWithoutAVerdictIsNamed) {
  const std::string python = test::temporary_path(".sh");
  std::ofstream(python)
      << "#!/bin/sh\necho '{\"version\": \"9.9\"}'\n"
         "while read -r line; do case $line in *6*) exit;; esac; echo '{\"same\": true}'; done\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const Outcome o =
      grade("{\"given\": \"6\", \"expected\": \"5\"}\n{\"given\": \"5\", \"expected\": \"5\"}\n",
            "--json --grader math-verify --python " + python);
  std::remove(python.c_str());
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find(pairs_ + ":1: math-verify took too long for the answer '6'"), std::string::npos)
      << o.err;
  std::istringstream lines(o.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(json::parse(line)["same"].is_null());
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line)["same"], true);
}

TEST_F(EvalGrade, AsksMathVerifyOncePerPair) {
  const std::string python = test::temporary_path(".sh"), asked = test::temporary_path(".asked");
  std::ofstream(python) << "#!/bin/sh\necho '{\"version\": \"9.9\"}'\nwhile read -r line; do echo x >>" << asked
                        << "; case $line in *7*) echo '{\"same\": false, \"read\": true}';; "
                           "*) echo '{\"same\": false, \"read\": false}';; esac; done\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const Outcome o = grade("{\"given\": \"6\", \"expected\": \"7\"}\n{\"given\": \"6\", \"expected\": \"5\"}\n",
                          "--grader math-verify --python " + python);
  EXPECT_EQ(contents(asked), "x\nx\n");
  std::remove(python.c_str());
  std::remove(asked.c_str());
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("0 of 2 are the same"), std::string::npos) << o.out;
  EXPECT_EQ(o.err.find(pairs_ + ":1:"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find(pairs_ + ":2: the grader math-verify 9.9 cannot read the expected answer '5'"), std::string::npos)
      << o.err;
}

TEST_F(EvalGrade, SaysHowToGetMathVerify) {
  expect_error(grade("{\"given\": \"1\", \"expected\": \"1\"}\n", "--grader math-verify --python /nowhere/python3"), 1,
               "pip install");
}

}  // namespace
}  // namespace vase
