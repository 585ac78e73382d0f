#include "eval/grading/answer.h"
#include "eval/stripped.h"

#include "eval/grading/choice.h"
#include "eval/grading/compare.h"
#include "eval/grading/notation.h"
#include "eval/grading/reader.h"

namespace vase::eval {
namespace {

using grading::Commas, grading::Node;

// Every way to read the answer. More than one only where a comma stands between digits.
std::vector<Node> readings(std::string_view answer) {
  std::vector<Node> all;
  for (const Commas commas : {Commas::kThousands, Commas::kSeparate}) {
    if (auto node = grading::read_answer(answer, commas)) all.push_back(std::move(*node));
  }
  if (all.size() == 2 && grading::identical(all[0], all[1])) all.pop_back();
  return all;
}

bool has_words(const std::vector<Node>& readings) {
  return !readings.empty() && readings[0].kind == grading::Kind::kText;
}

bool same_math(std::string_view given, std::string_view expected) {
  const std::vector<Node> left = readings(given), right = readings(expected);
  for (const Node& a : left) {
    for (const Node& b : right) {
      if (grading::same(a, b)) return true;
    }
  }
  if (!has_words(left) && !has_words(right)) return false;
  const std::string words = grading::words_of(expected);
  return !words.empty() && grading::words_of(given) == words;
}

bool same_choice(std::string_view given, std::string_view expected) {
  const auto a = grading::choice_letter(given), b = grading::choice_letter(expected);
  return a && b && *a == *b;
}

}  // namespace

bool same_answer(std::string_view given, std::string_view expected, AnswerKind kind) {
  const std::string text = grading::without_space(expected);
  if (text.empty()) return false;
  if (grading::without_space(given) == text) return true;
  switch (kind) {
    case AnswerKind::kMath:
      return same_math(given, expected);
    case AnswerKind::kChoice:
      return same_choice(given, expected);
    case AnswerKind::kCode:
      return false;
  }
  return false;
}

bool readable_answer(std::string_view answer, AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kMath:
      return !readings(answer).empty();
    case AnswerKind::kChoice:
      return grading::choice_letter(answer).has_value();
    case AnswerKind::kCode:
      return !stripped(answer).empty();
  }
  return false;
}

}  // namespace vase::eval
