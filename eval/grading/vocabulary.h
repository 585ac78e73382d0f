// The words and commands that answers are made of.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "eval/grading/lexer.h"

namespace vase::eval::grading {

// A token that a spelling stands for; an empty text: for none, it only sets type.
struct Known {
  TokenType type;
  std::string_view text;
};

// Of plain letters, such as "sqrt" or "and", and of commands of LaTeX, without the backslash.
std::optional<Known> known_word(std::string_view word);
std::optional<Known> known_command(std::string_view name);
// Spellings of several characters that are no letters: "<=", "**" ...
std::span<const std::pair<std::string_view, Known>> long_symbols();

bool is_function(std::string_view command);     // sin, log ...: takes what follows as its argument
bool is_symbol_name(std::string_view command);  // a Greek letter or the like: a variable
bool is_unit(std::string_view word);

}  // namespace vase::eval::grading
