// Final answers of completions: where they stand, and whether two mean the same. What is equal and what is not is told
// in docs/eval.md, "Grading".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vase::eval {

enum class AnswerKind : uint8_t {
  kMath,    // a number, an expression, a set, words ..., in LaTeX or plain notation
  kChoice,  // a letter, A to J
  kCode,    // a program; it is run, and not graded here
};

// The final answer in a completion, without white space around it; empty when there is none. Only what stands behind
// the last </think> counts; a text whose <think> is never closed has no answer. thinking: the prompt had opened <think>
// already. The first of these that is there:
//  kMath    what is in the last \boxed{...} or \fbox{...} that is closed and not empty; the rest of the line behind the
//           last "####"; what follows the last "answer is", "answer:" or "answer =", to the end of the sentence or of
//           the formula that begins there
//  kChoice  the last box, as above; the letter A to J, standing alone, that the last such "answer is" leads to
//  kCode    the last closed block between lines of ```
std::optional<std::string> extract_answer(std::string_view completion, AnswerKind kind, bool thinking = false);

// Whether two answers mean the same. Never throws; takes time in proportion to the lengths, and milliseconds at most
// for what is read. What cannot be read (see readable_answer) equals only its own text, white space aside.
bool same_answer(std::string_view given, std::string_view expected, AnswerKind kind);

// Whether same_answer understands the answer: its notation for kMath, a letter for kChoice, anything but white space
// for kCode. What is longer than 2000 bytes is never read.
bool readable_answer(std::string_view answer, AnswerKind kind);

}  // namespace vase::eval
