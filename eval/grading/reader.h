// Reads answers in LaTeX, in plain notation ("sqrt(2)/2") and in what lies between.
#pragma once

#include <optional>
#include <string_view>

#include "eval/grading/expression.h"
#include "eval/grading/lexer.h"

namespace vase::eval::grading {

constexpr size_t kLongestAnswer = 2000;  // bytes; what is longer is not read

// Empty when the answer is not understood: another notation, unbalanced brackets, brackets nested too deep, too long.
// Takes time in proportion to the length.
std::optional<Node> read_answer(std::string_view answer, Commas commas);

}  // namespace vase::eval::grading
