#include "eval/stripped.h"
#include "eval/tasks/readers.h"

namespace vase::eval {
namespace {

constexpr std::string_view kGsm8kMark = "####";

std::string boxed_answer(const Record& record) {
  const std::optional<std::string> solution = find_text(record, {"solution", "Solution"});
  if (!solution) fail_record(record, "needs \"answer\", or a \"solution\" with a \\boxed{} answer");
  if (solution->find("\\boxed") == std::string::npos && solution->find("\\fbox") == std::string::npos) {
    fail_record(record, "has no \"answer\", and no \\boxed{} in its \"solution\"");
  }
  const std::optional<std::string> answer = extract_answer(*solution, AnswerKind::kMath);
  if (!answer || answer->empty()) fail_record(record, "the \\boxed{} of its \"solution\" is empty or not closed");
  return *answer;
}

}  // namespace

Problem read_plain(const Record& record) {
  return {text_field(record, {"id"}), text_field(record, {"problem"}), text_field(record, {"answer"}), {}, {}};
}

Problem read_gsm8k(const Record& record) {
  if (record.fields.contains("problem")) return read_competition(record);
  const std::string worked = text_field(record, {"answer"});
  const size_t mark = worked.rfind(kGsm8kMark);
  if (mark == std::string::npos) fail_record(record, "\"answer\" does not end in \"#### N\"");
  std::string answer(stripped(std::string_view(worked).substr(mark + kGsm8kMark.size())));
  if (answer.empty()) fail_record(record, "nothing stands behind the \"####\" of \"answer\"");
  return {find_text(record, {"id"}).value_or(""), text_field(record, {"question"}), std::move(answer), {}, {}};
}

Problem read_competition(const Record& record) {
  std::string id = find_text(record, {"unique_id", "id", "ID", "problem_idx"}).value_or("");
  std::string problem = text_field(record, {"problem", "Problem", "question"});
  const std::optional<std::string> answer = find_text(record, {"answer", "Answer"});
  if (answer && answer->empty()) fail_record(record, "\"answer\" is empty");
  return {std::move(id), std::move(problem), answer ? *answer : boxed_answer(record), {}, {}};
}

}  // namespace vase::eval
