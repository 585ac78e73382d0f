// Any bytes at all are answers that compare, at least with themselves, and completions that hold one or none. The first
// byte chooses the kind, a zero byte parts two answers.
#include <cstdlib>

#include "eval/grading/answer.h"

using vase::eval::AnswerKind;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const AnswerKind kind = data[0] % 3 == 0   ? AnswerKind::kMath
                          : data[0] % 3 == 1 ? AnswerKind::kChoice
                                             : AnswerKind::kCode;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (const auto answer = vase::eval::extract_answer(text, kind)) require(answer->size() <= text.size());
  const size_t end = text.find('\0');
  const std::string_view given = text.substr(0, end),
                         expected = end == std::string_view::npos ? given : text.substr(end + 1);
  vase::eval::same_answer(given, expected, kind);
  vase::eval::readable_answer(given, kind);
  require(vase::eval::same_answer(expected, expected, kind) != is_blank(expected));
  return 0;
}
