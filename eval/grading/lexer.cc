#include "eval/grading/lexer.h"

#include <algorithm>
#include <optional>
#include <string>

#include "eval/grading/notation.h"
#include "eval/grading/vocabulary.h"
#include "eval/stripped.h"

namespace vase::eval::grading {
namespace {

constexpr size_t kPowerDigits = 3;  // of a power of ten, so that what is written out stays short

// A decimal times a power of ten, written out: "1.5" and 3 give "1500".
std::string shifted(const std::string& decimal, int power) {
  const size_t point = std::min(decimal.find('.'), decimal.size());
  std::string digits = decimal;
  digits.erase(point, 1);
  int whole = static_cast<int>(point) + power;  // digits in front of the point
  if (whole < 1) {
    digits.insert(0, 1 - whole, '0');
    whole = 1;
  }
  if (whole >= static_cast<int>(digits.size())) return digits.append(whole - digits.size(), '0');
  return digits.insert(whole, ".");
}

class Lexer {
 public:
  Lexer(std::string_view text, Commas commas) : text_(text), commas_(commas) {}

  std::optional<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      if (!step()) return std::nullopt;
    }
    add(TokenType::kFinish, "");
    return std::move(tokens_);
  }

 private:
  // All of these take what they read, and return false for what has no place in an answer.

  bool step() {
    const char c = peek();
    if (is_space(c) || c == '$' || c == '~' || c == '`' || c == '"') return skip(1);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_letter(c)) return word();
    if (c == '\\') return command();
    return symbol();
  }

  bool number() {
    std::string digits = digit_run();
    if (!digits.empty() && digits.size() <= 3) digits += thousands();
    if (peek() == '.' && is_digit(peek(1))) {
      ++at_;
      digits += '.' + digit_run();
      if (const auto power = power_of_ten()) return add(TokenType::kNumber, shifted(digits, *power));
      return add(TokenType::kNumber, digits + repeating());
    }
    if (const auto power = power_of_ten()) return add(TokenType::kNumber, shifted(digits, *power));
    if (peek() == '.') {
      ++at_;  // of a sentence, or in front of repeating digits
      if (const std::string period = repeating(); !period.empty()) digits += '.' + period;
    }
    return add(TokenType::kNumber, digits);
  }

  std::string digit_run() {
    const size_t from = at_;
    while (is_digit(peek())) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  // The power of ten of "e-7" directly behind a number, which it takes; none where there is no such or too large a one.
  std::optional<int> power_of_ten() {
    if (peek() != 'e' && peek() != 'E') return std::nullopt;
    const bool has_sign = peek(1) == '+' || peek(1) == '-';
    const size_t first = has_sign ? 2 : 1;
    size_t end = first;
    while (is_digit(peek(end))) ++end;
    if (end == first || end - first > kPowerDigits || is_letter(peek(end))) return std::nullopt;
    const int power = std::stoi(std::string(text_.substr(at_ + first, end - first)));
    const bool is_negative = peek(1) == '-';
    at_ += end;
    return is_negative ? -power : power;
  }

  // Groups of three digits behind separators.
  std::string thousands() {
    std::string digits;
    for (size_t length = separator(); length > 0; length = separator()) {
      at_ += length;
      digits += digit_run();
    }
    return digits;
  }

  // Length of a separator of thousands that stands here with exactly three digits behind it; 0: there is none.
  size_t separator() const {
    const std::string_view rest = text_.substr(at_);
    size_t length = 0;
    for (const std::string_view spelling : {",\\!", "{,}", "\\,", ",", " "}) {
      if (length == 0 && rest.starts_with(spelling)) length = spelling.size();
    }
    if (length == 0 || (length == 1 && rest[0] == ',' && (commas_ == Commas::kSeparate || depth_ > 0))) return 0;
    while (rest.starts_with(",\\!") && peek(length) == ' ') ++length;
    for (size_t i = 0; i < 3; ++i) {
      if (!is_digit(peek(length + i))) return 0;
    }
    return is_digit(peek(length + 3)) ? 0 : length;
  }

  // "(6)" for \overline{6}, which it takes; empty when it is not there.
  std::string repeating() {
    for (const std::string_view mark : {"\\overline{", "\\bar{"}) {
      if (!text_.substr(at_).starts_with(mark)) continue;
      size_t end = at_ + mark.size();
      while (end < text_.size() && is_digit(text_[end])) ++end;
      if (end == at_ + mark.size() || end == text_.size() || text_[end] != '}') return "";
      const std::string digits(text_.substr(at_ + mark.size(), end - at_ - mark.size()));
      at_ = end + 1;
      return "(" + digits + ")";
    }
    return "";
  }

  std::string_view letters() {
    const size_t from = at_;
    while (is_letter(peek())) ++at_;
    return text_.substr(from, at_ - from);
  }

  bool word() {
    const std::string_view run = letters();
    if (run.size() == 1) return add(TokenType::kLetter, run);
    if (const auto known = known_word(run)) return add(known->type, known->text);
    return add(TokenType::kWord, run);
  }

  bool command() {
    ++at_;
    if (at_ == text_.size()) return false;
    if (!is_letter(peek())) return escaped(text_[at_++]);
    const std::string_view name = letters();
    if (name == "begin" || name == "end") return environment(name == "begin" ? TokenType::kBegin : TokenType::kEnd);
    if (sets_words(name)) return words(sets_letters(name));
    if (name == "left" || name == "right") {
      if (peek() == '.') ++at_;
      return skip(0);
    }
    const auto known = known_command(name);
    if (!known) return false;
    return known->text.empty() ? skip(0) : add(known->type, known->text);
  }

  // A backslash and a character that is no letter.
  bool escaped(char c) {
    switch (c) {
      case '{':
        return opening("\\{");
      case '}':
        return closing("\\}");
      case '\\':
        return add(TokenType::kSymbol, "\\\\");
      case '%':
        return add(TokenType::kSymbol, "%");
      case '|':
        return add(TokenType::kSymbol, "|");
      default:
        return std::string_view(",;:! ()[]$>").find(c) != std::string_view::npos && skip(0);
    }
  }

  bool environment(TokenType type) {
    const size_t end = text_.find('}', at_);
    if (peek() != '{' || end == std::string_view::npos) return false;
    add(type, text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return true;
  }

  // Behind \text or its like. What holds digits or commands is left to be read like any other group.
  bool words(bool variables) {
    while (is_space(peek())) ++at_;
    const size_t end = peek() == '{' ? text_.find_first_of("{}", at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos || text_[end] == '{') return true;
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find_first_of("0123456789\\$^_=+/<>") != std::string_view::npos) return true;
    at_ = end + 1;
    std::string_view core = stripped(content);
    if (variables && core.size() == 1) {
      return core == "R" ? add(TokenType::kCommand, "reals") : add(TokenType::kLetter, core);
    }
    while (!core.empty() && (core.back() == ',' || core.back() == '.' || is_space(core.back()))) core.remove_suffix(1);
    while (!core.empty() && (core.front() == ',' || is_space(core.front()))) core.remove_prefix(1);
    if (const auto known = known_word(core)) return add(known->type, known->text);
    if (core.empty()) return content.find(',') == std::string_view::npos ? skip(0) : add(TokenType::kSymbol, ",");
    return add(TokenType::kText, core);
  }

  bool symbol() {
    const std::string_view rest = text_.substr(at_);
    for (const auto& [spelling, known] : long_symbols()) {
      if (!rest.starts_with(spelling)) continue;
      at_ += spelling.size();
      return add(known.type, known.text);
    }
    const char c = text_[at_++];
    const std::string text(1, c);
    if (c == '(' || c == '[') return opening(text);
    if (c == ')' || c == ']') return closing(text);
    if (std::string_view("+-*/^_{}|,;:=<>!%&'").find(c) == std::string_view::npos) return false;
    return add(TokenType::kSymbol, text);
  }

  bool opening(std::string_view text) {
    ++depth_;
    return add(TokenType::kSymbol, text);
  }

  bool closing(std::string_view text) {
    --depth_;
    return add(TokenType::kSymbol, text);
  }

  bool add(TokenType type, std::string_view text) {
    tokens_.push_back({type, std::string(text), space_});
    space_ = false;
    return true;
  }

  bool skip(size_t count) {
    at_ += count;
    space_ = true;
    return true;
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  Commas commas_;
  size_t at_ = 0;
  int depth_ = 0;       // of brackets that are open
  bool space_ = false;  // white space stands in front of what comes next
  std::vector<Token> tokens_;
};

}  // namespace

std::optional<std::vector<Token>> tokens_of(std::string_view plain_notation, Commas commas) {
  return Lexer(plain_notation, commas).run();
}

}  // namespace vase::eval::grading
