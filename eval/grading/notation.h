// The many ways to write the same characters, made one.
#pragma once

#include <string>
#include <string_view>

namespace vase::eval::grading {

bool is_space(char c);
bool is_digit(char c);
bool is_letter(char c);  // of ASCII
// White space left out; between two digits it becomes a blank.
std::string without_space(std::string_view text);

// Signs that Unicode has as commands of LaTeX ("\times ", "^{2}"), other signs for minus and blanks as the plain ones,
// without emphasis of Markdown and full stops around all of it.
std::string plain_notation(std::string_view text);

// The letters and digits of a text in lower case; commands that set type (\text, \mathrm ...) left out. Bytes outside
// of ASCII stay as they are.
std::string words_of(std::string_view text);

// \text, \mathrm and the like, by name without the backslash. Of the second kind are those that set variables, too.
bool sets_words(std::string_view command);
bool sets_letters(std::string_view command);

}  // namespace vase::eval::grading
