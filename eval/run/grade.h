// Whether a text is right, and how it went wrong.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "eval/grading/answer.h"
#include "eval/grading/math_verify.h"
#include "eval/run/plan.h"
#include "eval/run/record.h"
#include "eval/sandbox/sandbox.h"

namespace vase::eval {

struct GraderOptions {
  bool math_verify = false;  // the Python package compares formulas; else same_answer() does
  MathVerifyOptions package;
  bool run_code = false;  // programs are run in a sandbox; without it none may be graded
};

// Grades answers of every kind. Not for more than one thread at a time. reads() and right() throw as MathVerify::same(),
// right() also as Sandbox::run().
class Grader {
 public:
  // Throws Error as MathVerify and Sandbox do.
  explicit Grader(const GraderOptions& options);

  // For records, with the version of what is not a part of this program: "own", "math-verify 0.8.0".
  std::string name() const;
  // Whether it understands the expected answer, or the tests, of a problem.
  bool reads(const Problem& problem, AnswerKind kind);
  bool right(const std::string& answer, const Problem& problem, AnswerKind kind);
  // Both, of an answer that is no program: right(), and where it is not also reads(). Throws as right().
  Comparison compare(const std::string& answer, const Problem& problem, AnswerKind kind);

 private:
  bool same(const std::string& given, const std::string& expected, AnswerKind kind);

  std::unique_ptr<MathVerify> math_verify_;
  std::optional<Sandbox> sandbox_;
};

// Sets extracted, right, judged and label. Returns why it could not be judged; empty when it was. Throws what Grader
// throws but for NoVerdict: the grader itself is gone, and the result is one that was not judged.
std::string grade(Result& result, const Generation& generation, const Planned& planned, Grader& grader);

// Throws Error(kCorrupt), naming file and line, when an expected answer is empty or one that the grader
// cannot read or judge: it could not tell whether a text is right.
void check_answers(const RunPlan& plan, Grader& grader);

}  // namespace vase::eval
