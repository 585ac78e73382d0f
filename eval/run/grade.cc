#include "eval/run/grade.h"

#include "eval/failure_label.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

class OwnGrader final : public Grader {
 public:
  std::string name() const override { return "own"; }
  bool same(const std::string& given, const std::string& expected, AnswerKind kind) override {
    return same_answer(given, expected, kind);
  }
  bool reads(const std::string& expected, AnswerKind kind) override { return readable_answer(expected, kind); }
};

}  // namespace

std::unique_ptr<Grader> own_grader() { return std::make_unique<OwnGrader>(); }

void grade(Result& result, const Generation& generation, const Planned& planned, Grader& grader) {
  const AnswerKind kind = planned.task->kind;
  result.extracted = extract_answer(generation.text, kind);
  result.right = result.extracted && grader.same(*result.extracted, planned.problem->answer, kind);
  result.label = label_name(failure_label(generation.text, result.ended()));
}

void check_answers(const RunPlan& plan, Grader& grader) {
  for (const Source& source : plan.sources) {
    if (source.task.kind == AnswerKind::kCode) continue;  // has tests in place of an answer
    for (const Problem& problem : source.task.problems) {
      const std::string& answer = problem.answer;
      const bool blank = answer.find_first_not_of(" \t\r\n") == std::string::npos;
      if (!blank && grader.reads(answer, source.task.kind)) continue;
      const std::string what = blank ? "there is no answer" : "the grader " + grader.name() + " cannot read the answer '" + answer + "'";
      throw Error(ErrorCode::kCorrupt, source.place_of(problem) + ": " + what +
                                           ", so it cannot tell whether a text is right; correct the answer, or leave the problem out with --ids");
    }
  }
}

}  // namespace vase::eval
