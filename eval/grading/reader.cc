#include "eval/grading/reader.h"

#include "eval/grading/notation.h"
#include "eval/grading/parser.h"

namespace vase::eval::grading {

std::optional<Node> read_answer(std::string_view answer, Commas commas) {
  if (answer.size() > kLongestAnswer) return std::nullopt;
  auto tokens = tokens_of(plain_notation(answer), commas);
  if (!tokens) return std::nullopt;
  try {
    return Parser(std::move(*tokens)).answer();
  } catch (const Unreadable&) {
    return std::nullopt;
  }
}

}  // namespace vase::eval::grading
