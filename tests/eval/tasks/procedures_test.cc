// Problems that are made up: right answers, right worked texts, the same ones everywhere, and facts that lie far back.
#include "eval/tasks/procedures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "data_file.h"
#include "solvers.h"

namespace vase::eval {
namespace {

struct SolverCase {
  const char* spec;
  Solved (*solve)(const std::string&);
};

std::ostream& operator<<(std::ostream& out, const SolverCase& c) { return out << c.spec; }

class Procedures : public testing::TestWithParam<SolverCase> {};

TEST_P(Procedures, AnswersAndWorkedTextsAreRight) {
  const Task task = make_task(GetParam().spec, 25, 3);
  ASSERT_EQ(task.problems.size(), 25u);
  EXPECT_EQ(task.kind, AnswerKind::kMath);
  for (const Problem& p : task.problems) {
    const Solved solved = GetParam().solve(p.problem);
    EXPECT_EQ(p.answer, solved.answer) << p.problem;
    std::string lines;
    for (const std::string& line : solved.lines) lines += line + "\n";
    EXPECT_EQ(p.worked, lines + "\nThe answer is \\boxed{" + p.answer + "}.") << p.problem;
    EXPECT_EQ(extract_answer(p.worked, AnswerKind::kMath), p.answer);
    EXPECT_NE(p.problem.find(solved.lines[0]), std::string::npos) << "the form of a line is shown";
  }
}

TEST_P(Procedures, TheSeedDecidesAndACountOnlyAdds) {
  const Task five = make_task(GetParam().spec, 5, 11), nine = make_task(GetParam().spec, 9, 11);
  const Task other = make_task(GetParam().spec, 5, 12);
  std::set<std::string> ids;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(five.problems[i].problem, nine.problems[i].problem);
    EXPECT_EQ(five.problems[i].id, nine.problems[i].id);
    EXPECT_NE(five.problems[i].problem, other.problems[i].problem);
    EXPECT_NE(five.problems[i].id, other.problems[i].id);
  }
  for (const Problem& p : nine.problems) EXPECT_TRUE(ids.insert(p.id).second);
}

INSTANTIATE_TEST_SUITE_P(
    All, Procedures,
    testing::Values(SolverCase{"chain", solve_chain}, SolverCase{"chain:steps=3,back=1", solve_chain},
                    SolverCase{"chain:steps=120,back=60,digits=1", solve_chain},
                    SolverCase{"chain:digits=6", solve_chain}, SolverCase{"halves", solve_halves},
                    SolverCase{"halves:steps=4,digits=1", solve_halves},
                    SolverCase{"halves:steps=100,digits=6", solve_halves}, SolverCase{"state", solve_state},
                    SolverCase{"state:boxes=3,steps=1", solve_state},
                    SolverCase{"state:boxes=20,steps=150", solve_state}, SolverCase{"graph", solve_graph},
                    SolverCase{"graph:nodes=4,extra=0,reach=1", solve_graph},
                    SolverCase{"graph:nodes=80,extra=60,reach=10", solve_graph}));

TEST(Chain, EveryStepReachesBackAndValuesStaySmall) {
  for (const Problem& p : make_task("chain:steps=60,back=20", 10, 1).problems) {
    for (const auto& m : matches(p.problem, kStep)) {
      const int step = std::stoi(m[1]), other = std::min(std::stoi(m[2]), std::stoi(m[4]));
      EXPECT_EQ(std::max(std::stoi(m[2]), std::stoi(m[4])), step - 1);
      if (step > 20)
        EXPECT_GE(step - other, 20) << m[0];
      else
        EXPECT_EQ(other, 1) << m[0];
    }
    for (const auto& m : matches(p.worked, "= (-?\\d+)(?=\n)")) EXPECT_LE(m[1].size(), 2u) << m[0];
    EXPECT_EQ(p.worked.find("= -"), std::string::npos);
  }
}

// The card that is asked for was written down, and that longer ago than any other box's last one.
TEST(State, TheAnswerLiesFarBack) {
  for (const Problem& p : make_task("state:boxes=10,steps=40", 10, 1).problems) {
    const std::string asked = matches(p.problem, "in the ([a-z]+) box")[0][1];
    std::map<std::string, int> last;
    for (const auto& m : matches(p.problem, "\n(\\d+)\\. ([a-z]+) and ([a-z]+)(?=\n)")) {
      last[m[2]] = last[m[3]] = std::stoi(m[1]);
    }
    ASSERT_TRUE(last.contains(asked));
    for (const auto& [box, step] : last) EXPECT_LE(last[asked], step) << box;
  }
}

TEST(Specs, AllSettingsStandInTheName) {
  EXPECT_EQ(make_task("chain", 1, 0).name, "chain:steps=40,back=15,digits=2");
  EXPECT_EQ(make_task("chain:digits=3,steps=9", 1, 0).name, "chain:steps=9,back=15,digits=3");
  EXPECT_EQ(make_task(make_task("graph:reach=2", 1, 0).name, 1, 0).problems[0].problem,
            make_task("graph:reach=2", 1, 0).problems[0].problem);
}

TEST(Specs, WrongOnesAreRefused) {
  const struct {
    const char *spec, *message;
  } cases[] = {
      {"chain:stepps=4", "no setting 'stepps'"},
      {"chain:steps", "whole numbers, 3 to 2000"},
      {"chain:steps=2", "whole numbers, 3 to 2000"},
      {"chain:steps=4x", "'4x'"},
      {"chain:steps=99999999999", "whole numbers"},
      {"chain:steps=4,steps=5", "given twice"},
      {"chain:", "no setting ''"},
      {"chain:steps=4,", "no setting ''"},
      {"state:boxes=21", "3 to 20"},
      {"chains", "unknown task 'chains'"},
  };
  for (const auto& c : cases) {
    const auto error = error_of([&] { make_task(c.spec, 1, 0); });
    ASSERT_TRUE(error) << c.spec;
    EXPECT_EQ(error->code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(error->what()).find(c.message), std::string::npos) << error->what();
  }
  EXPECT_TRUE(error_of([] { make_task("chain", 0, 0); }));
}

TEST(Specs, CommandLines) {
  EXPECT_TRUE(is_procedural("chain"));
  EXPECT_TRUE(is_procedural("chain:steps=5"));
  EXPECT_FALSE(is_procedural("gsm8k=chain"));
  EXPECT_FALSE(is_procedural("chains"));
  EXPECT_EQ(open_task("halves:steps=9", 2, 5).problems.size(), 2u);
}

}  // namespace
}  // namespace vase::eval
