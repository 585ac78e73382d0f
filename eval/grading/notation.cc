#include "eval/grading/notation.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vase::eval::grading {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

constexpr Replacement kReplacements[] = {
    {"−", "-"}, {"–", "-"}, {"‐", "-"}, {"‑", "-"}, {"－", "-"}, {"×", "\\times "}, {"·", "\\cdot "}, {"⋅", "\\cdot "},
    {"∙", "\\cdot "}, {"÷", "/"}, {"∕", "/"}, {"⁄", "/"}, {"√", "\\sqrt "}, {"∛", "\\sqrt[3] "}, {"π", "\\pi "},
    {"°", "\\degree "}, {"º", "\\degree "}, {"∞", "\\infty "}, {"≤", "\\le "}, {"⩽", "\\le "}, {"≥", "\\ge "},
    {"⩾", "\\ge "}, {"≠", "\\ne "}, {"≈", "\\approx "}, {"±", "\\pm "}, {"∓", "\\mp "}, {"∪", "\\cup "},
    {"∈", "\\in "}, {"∅", "\\emptyset "}, {"ℝ", "\\mathbb{R}"}, {"½", "\\frac12 "}, {"⅓", "\\frac13 "},
    {"⅔", "\\frac23 "}, {"¼", "\\frac14 "}, {"¾", "\\frac34 "}, {"⟨", "("}, {"⟩", ")"}, {"’", "'"}, {"′", "'"},
    {"％", "%"}, {"，", ","}, {"（", "("}, {"）", ")"}, {"＝", "="}, {"α", "\\alpha "}, {"β", "\\beta "},
    {"γ", "\\gamma "}, {"δ", "\\delta "}, {"ε", "\\epsilon "}, {"θ", "\\theta "}, {"λ", "\\lambda "}, {"μ", "\\mu "},
    {"ρ", "\\rho "}, {"σ", "\\sigma "}, {"τ", "\\tau "}, {"φ", "\\phi "}, {"ϕ", "\\phi "}, {"ω", "\\omega "},
    {"€", ""}, {"£", ""}, {"¥", ""}, {"\xC2\xA0", " "}, {"\xE2\x80\x83", " "}, {"\xE2\x80\x89", " "},
    {"\xE2\x80\xAF", " "}, {"\xE2\x80\x8B", ""}, {"\xEF\xBB\xBF", ""}};

constexpr Replacement kSuperscripts[] = {
    {"⁰", "0"}, {"¹", "1"}, {"²", "2"}, {"³", "3"}, {"⁴", "4"}, {"⁵", "5"}, {"⁶", "6"}, {"⁷", "7"}, {"⁸", "8"},
    {"⁹", "9"}, {"⁻", "-"}, {"ⁿ", "n"}};

template <size_t n>
const Replacement* find(const Replacement (&table)[n], std::string_view text) {
  const auto found = std::ranges::find_if(table, [&](const Replacement& r) { return text.starts_with(r.first); });
  return found == std::end(table) ? nullptr : found;
}

// Superscripts that stand next to each other are one exponent. Removes them from the text.
std::string exponent(std::string_view& text) {
  std::string digits;
  while (const Replacement* r = find(kSuperscripts, text)) {
    digits += r->second;
    text.remove_prefix(r->first.size());
  }
  return digits.empty() ? "" : "^{" + digits + "}";
}

std::string ascii_notation(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) >= 0x80) {
      const std::string raised = exponent(text);
      out += raised;
      if (!raised.empty()) continue;
      if (const Replacement* r = find(kReplacements, text)) {
        out += r->second;
        text.remove_prefix(r->first.size());
        continue;
      }
    }
    out += text[0];
    text.remove_prefix(1);
  }
  return out;
}

bool is_around(char c) { return is_space(c) || c == '*' || c == '`' || c == '"'; }
bool is_behind(char c) { return is_around(c) || c == '.' || c == ',' || c == ';' || c == ':'; }

constexpr std::string_view kWordCommands[] = {
    "text", "mbox", "hbox", "textrm", "textbf", "textit", "textnormal", "textsf", "texttt"};
constexpr std::string_view kLetterCommands[] = {
    "mathrm", "mathbf", "mathit", "mathsf", "mathcal", "mathbb", "mathfrak", "boldsymbol", "operatorname", "vec",
    "rm", "bf", "it"};

}  // namespace

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string without_space(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!is_space(text[at])) out += text[at];
    else if (at + 1 < text.size() && is_digit(text[at + 1]) && !out.empty() && is_digit(out.back())) out += ' ';
  }
  return out;
}

std::string plain_notation(std::string_view text) {
  while (!text.empty() && is_around(text.front())) text.remove_prefix(1);
  const auto is_command = [&] { return text.size() > 1 && text[text.size() - 2] == '\\'; };  // "\,"
  while (!text.empty() && is_behind(text.back()) && !is_command()) text.remove_suffix(1);
  return ascii_notation(text);
}

std::string words_of(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\\') {
      size_t end = at + 1;
      while (end < text.size() && is_letter(text[end])) ++end;
      const std::string_view command = text.substr(at + 1, end - at - 1);
      at = sets_words(command) ? end : at + 1;
      continue;
    }
    const char c = text[at++];
    const bool kept = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (kept) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

bool sets_words(std::string_view command) {
  return sets_letters(command) || std::ranges::find(kWordCommands, command) != std::end(kWordCommands);
}

bool sets_letters(std::string_view command) {
  return std::ranges::find(kLetterCommands, command) != std::end(kLetterCommands);
}

}  // namespace vase::eval::grading
