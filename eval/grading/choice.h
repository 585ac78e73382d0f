// Letters of multiple choice.
#pragma once

#include <optional>
#include <string_view>

namespace vase::eval::grading {

// 'A' to 'J' for "C", "c", "(C)", "C.", "\text{(C) }5", "\textbf{C}", "option C"; empty for anything else.
std::optional<char> choice_letter(std::string_view answer);

// The letter that stands alone at the beginning of a text, behind blanks, brackets, emphasis and words like "option":
// what "The answer is" leads to. Capitals only.
std::optional<char> leading_choice(std::string_view text);

}  // namespace vase::eval::grading
