// Whether a text is right, and how it went wrong.
#pragma once

#include <memory>
#include <string>

#include "eval/grading/answer.h"
#include "eval/run/plan.h"
#include "eval/run/record.h"

namespace vase::eval {

// Compares answers. Not for more than one thread at a time.
class Grader {
 public:
  virtual ~Grader() = default;
  // For records, with the version of what is not a part of this program: "own", "math-verify 0.8.0".
  virtual std::string name() const = 0;
  virtual bool same(const std::string& given, const std::string& expected, AnswerKind kind) = 0;
  // Whether it understands an expected answer.
  virtual bool reads(const std::string& expected, AnswerKind kind) { return same(expected, expected, kind); }
};

// same_answer() of eval/grading/answer.h.
std::unique_ptr<Grader> own_grader();

// Sets extracted, right and label.
void grade(Result& result, const Generation& generation, const Planned& planned, Grader& grader);

// Throws Error(kCorrupt), naming file and line, when an expected answer is empty or one that the grader cannot read: it could
// not tell whether a text is right.
void check_answers(const RunPlan& plan, Grader& grader);

}  // namespace vase::eval
