// Splits an answer into what the reader looks at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vase::eval::grading {

enum class TokenType : uint8_t {
  kNumber,   // as the text of a Kind::kNumber, separators of thousands left out
  kLetter,   // a variable: one letter, or a letter that is set in a way of its own
  kWord,     // several letters that are no function
  kCommand,  // the name of a command or function that the reader knows under this name
  kText,     // words that are set as words
  kSymbol,   // one of + - * / ^ _ ( ) [ ] { } \{ \} | , ; : = < > ! % & ' and \\ (the end of a row)
  kBegin,    // of an environment: its name
  kEnd,
  kFinish,  // the last token
};

struct Token {
  TokenType type;
  std::string text;
  bool space = false;  // stands behind white space
};

// How a comma between a digit and three digits is read, where no bracket is open: "1,234" as one number or as two.
enum class Commas : uint8_t { kThousands, kSeparate };

// Empty when there is a character or a command that has no place in an answer.
std::optional<std::vector<Token>> tokens_of(std::string_view plain_notation, Commas commas);

}  // namespace vase::eval::grading
