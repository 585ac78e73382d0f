#include "eval/grading/choice.h"
#include "eval/stripped.h"

#include <string>

#include "eval/grading/notation.h"

namespace vase::eval::grading {
namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (upper(a[i]) != upper(b[i])) return false;
  }
  return true;
}

std::string_view leading_letters(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_letter(text[end])) ++end;
  return text.substr(0, end);
}

// Takes what may stand in front of a letter: signs, commands that set type, words that announce it.
std::string_view behind_announcement(std::string_view text) {
  constexpr std::string_view kSigns = "*_({[$:\"'`";
  for (;;) {
    text = stripped(text);
    if (text.empty()) return text;
    if (kSigns.find(text[0]) != std::string_view::npos) {
      text.remove_prefix(1);
      continue;
    }
    const bool command = text[0] == '\\';
    const std::string_view word = leading_letters(text.substr(command));
    bool announces = command && (sets_words(word) || word == "boxed");
    for (const std::string_view known : {"option", "choice", "answer", "is", "the", "correct", "letter"}) {
      announces |= !command && same_word(word, known);
    }
    if (!announces) return text;
    text.remove_prefix(word.size() + command);
  }
}

}  // namespace

std::optional<char> leading_choice(std::string_view text) {
  text = behind_announcement(text);
  if (text.empty() || text[0] < 'A' || text[0] > 'J') return std::nullopt;
  const char next = text.size() > 1 ? text[1] : ' ';
  const bool goes_on = is_letter(next) || is_digit(next) || next == '\'' || static_cast<unsigned char>(next) >= 0x80;
  return goes_on ? std::nullopt : std::optional(text[0]);
}

std::optional<char> choice_letter(std::string_view answer) {
  std::string_view text = behind_announcement(answer);
  if (text.empty()) return std::nullopt;
  const char letter = upper(text[0]);
  text = stripped(text.substr(1));
  const bool ends = text.empty() || std::string_view(").:}],*$").find(text[0]) != std::string_view::npos;
  return letter >= 'A' && letter <= 'J' && ends ? std::optional(letter) : std::nullopt;
}

}  // namespace vase::eval::grading
