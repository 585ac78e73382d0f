// Where the final answer of a completion stands.
#include <algorithm>
#include <utility>
#include <vector>

#include "eval/grading/answer.h"
#include "eval/grading/choice.h"
#include "eval/grading/notation.h"
#include "eval/stripped.h"

namespace vase::eval {
namespace {

using grading::is_letter, grading::is_space;

constexpr size_t kNowhere = std::string_view::npos;

std::string_view behind_thinking(std::string_view text, bool thinking) {
  constexpr std::string_view kEnd = "</think>";
  if (const size_t end = text.rfind(kEnd); end != kNowhere) return text.substr(end + kEnd.size());
  return thinking || text.find("<think>") != kNowhere ? std::string_view() : text;
}

// Length of "\boxed{" or its like at the beginning of the text; 0 when there is none.
size_t box_opening(std::string_view text) {
  for (const std::string_view name : {"\\boxed", "\\fbox"}) {
    if (!text.starts_with(name)) continue;
    size_t brace = name.size();
    while (brace < text.size() && is_space(text[brace])) ++brace;
    if (brace < text.size() && text[brace] == '{') return brace + 1;
  }
  return 0;
}

// What the last box holds that is closed and not empty: the one that begins last. One pass, however many boxes are
// open.
std::string_view last_box(std::string_view text) {
  struct Open {
    size_t begin;
    size_t braces;  // open where it began
  };
  std::vector<Open> open;
  size_t braces = 0, last_begin = 0;
  std::string_view last;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      const size_t length = box_opening(text.substr(at));
      at += length > 0 ? length - 1 : 1;  // a brace behind a backslash is none
      if (length > 0) open.push_back({at + 1, braces++});
    } else if (text[at] == '{') {
      ++braces;
    } else if (text[at] == '}' && braces > 0) {
      --braces;
      if (open.empty() || open.back().braces != braces) continue;
      const size_t begin = open.back().begin;
      open.pop_back();
      const std::string_view content = stripped(text.substr(begin, at - begin));
      if (begin < last_begin || content.empty()) continue;
      last_begin = begin;
      last = content;
    }
  }
  return last;
}

bool begins_with_word(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  for (size_t i = 0; i < lower_case.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != lower_case[i]) return false;
  }
  return true;
}

std::string_view without_emphasis(std::string_view text) {
  while (!text.empty() && (text[0] == '*' || text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  return text;
}

// What follows "answer is", "answer:" or "answer =", if the text begins so.
std::optional<std::string_view> behind_answer(std::string_view text) {
  if (!begins_with_word(text, "answer")) return std::nullopt;
  text = without_emphasis(text.substr(6));
  const bool is = begins_with_word(text, "is") && (text.size() == 2 || !is_letter(text[2]));
  const bool sign = !text.empty() && (text[0] == ':' || text[0] == '=');
  if (!is && !sign) return std::nullopt;
  text = without_emphasis(text.substr(is ? 2 : 1));
  if (!text.empty() && text[0] == ':') text = without_emphasis(text.substr(1));
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
  return text;
}

// Behind the last "answer is"; empty when nothing is.
std::string_view behind_last_answer(std::string_view text) {
  for (size_t at = text.size(); at-- > 0;) {
    if (text[at] != 'a' && text[at] != 'A') continue;
    if (const auto rest = behind_answer(text.substr(at)); rest && !rest->empty()) return *rest;
  }
  return {};
}

// The formula that a text begins with, without its dollars or brackets; empty when it begins with none.
std::string_view leading_formula(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"$$", "$$"}, {"\\[", "\\]"}, {"\\(", "\\)"}, {"$", "$"}};
  for (const auto& [begin, end] : kMarks) {
    if (!text.starts_with(begin)) continue;
    const size_t closing = text.find(end, begin.size());
    if (closing == kNowhere) return {};
    const std::string_view content = stripped(text.substr(begin.size(), closing - begin.size()));
    return content.find('\n') != kNowhere && begin == "$" ? std::string_view() : content;
  }
  return {};
}

// Up to the end of the sentence or line.
std::string_view first_sentence(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '.' && is_space(text[at + 1])) text = text.substr(0, at);
  }
  constexpr std::string_view kBehind = " \t\r\v\f.,;:*";
  return text.substr(0, text.find_last_not_of(kBehind) + 1);
}

std::string_view stated_answer(std::string_view text) {
  if (const size_t mark = text.rfind("####"); mark != kNowhere) {
    const std::string_view rest = text.substr(mark + 4);
    if (const std::string_view line = stripped(rest.substr(0, rest.find('\n'))); !line.empty()) return line;
  }
  const std::string_view rest = behind_last_answer(text);
  const std::string_view formula = leading_formula(rest);
  return formula.empty() ? first_sentence(rest) : formula;
}

std::optional<std::string> stated_choice(std::string_view text) {
  for (size_t at = text.size(); at-- > 0;) {
    if (text[at] != 'a' && text[at] != 'A') continue;
    const auto rest = behind_answer(text.substr(at));
    if (!rest) continue;
    if (const auto letter = grading::leading_choice(rest->substr(0, 80))) return std::string(1, *letter);
  }
  return std::nullopt;
}

// The last block between lines that begin with ```; an unfinished one is none.
std::optional<std::string> last_program(std::string_view text) {
  std::optional<std::string> last;
  size_t opened = kNowhere;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const bool fence = stripped(text.substr(from, end - from)).starts_with("```");
    if (fence && opened == kNowhere) {
      opened = end + 1;
    } else if (fence) {
      last = text.substr(std::min(opened, from), from - std::min(opened, from));
      opened = kNowhere;
    }
    from = end + 1;
  }
  return last;
}

}  // namespace

std::optional<std::string> extract_answer(std::string_view completion, AnswerKind kind, bool thinking) {
  const std::string_view text = behind_thinking(completion, thinking);
  if (kind == AnswerKind::kCode) return last_program(text);
  if (const std::string_view box = last_box(text); !box.empty()) return std::string(box);
  if (kind == AnswerKind::kChoice) return stated_choice(text);
  const std::string_view stated = stated_answer(text);
  return stated.empty() ? std::nullopt : std::optional(std::string(stated));
}

}  // namespace vase::eval
