#include "eval/run/grade.h"

#include "eval/failure_label.h"
#include "eval/no_verdict.h"
#include "eval/sandbox/program.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

// Why the grader could not judge texts by this problem; empty when it can.
std::string fault_of(const Problem& problem, AnswerKind kind, Grader& grader) {
  try {
    if (grader.reads(problem, kind)) return "";
  } catch (const NoVerdict& e) {
    return e.what();
  }
  if (is_blank(problem.answer)) return "there is no answer";
  return "the grader " + grader.name() + " cannot read the answer '" + problem.answer + "'";
}

}  // namespace

Grader::Grader(const GraderOptions& options) {
  if (options.math_verify) math_verify_ = std::make_unique<MathVerify>(options.package);
  if (options.run_code) sandbox_.emplace();
}

std::string Grader::name() const { return math_verify_ ? "math-verify " + math_verify_->version() : "own"; }

bool Grader::same(const std::string& given, const std::string& expected, AnswerKind kind) {
  if (math_verify_ && kind == AnswerKind::kMath) return math_verify_->same(given, expected);
  return same_answer(given, expected, kind);
}

bool Grader::reads(const Problem& problem, AnswerKind kind) {
  if (kind == AnswerKind::kCode) return true;  // its tests were read with the task
  if (is_blank(problem.answer)) return false;
  if (math_verify_ && kind == AnswerKind::kMath) return math_verify_->same(problem.answer, problem.answer);
  return readable_answer(problem.answer, kind);
}

bool Grader::right(const std::string& answer, const Problem& problem, AnswerKind kind) {
  if (kind != AnswerKind::kCode) return same(answer, problem.answer, kind);
  if (!sandbox_)
    throw Error(ErrorCode::kUsage,
                "problem " + problem.id + " is graded by running a program, which is not allowed");
  return grade_program(*sandbox_, answer, parse_code_tests(problem.tests)).verdict == ProgramVerdict::kRight;
}

Comparison Grader::compare(const std::string& answer, const Problem& problem, AnswerKind kind) {
  if (math_verify_ && kind == AnswerKind::kMath && !is_blank(problem.answer))
    return math_verify_->compare(answer, problem.answer);
  const bool same_one = right(answer, problem, kind);
  return {.same = same_one, .read = same_one || reads(problem, kind)};
}

std::string grade(Result& result, const Generation& generation, const Planned& planned, Grader& grader) {
  const AnswerKind kind = planned.task->kind;
  result.extracted = extract_answer(generation.text, kind, generation.thinking);
  result.label = label_name(label_of(generation.text, result.finish, generation.thinking));
  result.judged = false;
  try {
    result.right = result.extracted && grader.right(*result.extracted, *planned.problem, kind);
  } catch (const NoVerdict& e) {
    return e.what();
  }
  result.judged = true;
  return "";
}

void check_answers(const RunPlan& plan, Grader& grader) {
  for (const Source& source : plan.sources) {
    for (const Problem& problem : source.task.problems) {
      const std::string what = fault_of(problem, source.task.kind, grader);
      if (what.empty()) continue;
      throw Error(ErrorCode::kCorrupt,
                  source.place_of(problem) + ": " + what +
                      ", so it cannot tell whether a text is right; correct the answer, or leave the "
                      "problem out with --ids");
    }
  }
}

}  // namespace vase::eval
