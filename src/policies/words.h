// Words of a policy's text that remember where they stand, so that an error can point at them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vase {

struct Word {
  std::string_view text;
  size_t at = 0;  // offset in the whole policy text

  Word part(size_t from, size_t count = std::string_view::npos) const { return {text.substr(from, count), at + from}; }
};

// Splits at every character of `separators`; empty pieces are dropped when `skip_empty`.
std::vector<Word> split(Word word, std::string_view separators, bool skip_empty);

// Throws Error(kUsage): "policy, character 12: <what>".
[[noreturn]] void fail_at(const Word& word, const std::string& what);

// The word in quotes, cut to a readable length, control characters replaced.
std::string quoted(std::string_view word);

// "a, b, c"
std::string joined(std::span<const std::string_view> names);

// The name with the smallest edit distance to `word`; the first of several. names must not be empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

// "unknown <kind> 'x'; did you mean 'y'? There are: a, b, c". names must not be empty.
std::string unknown_name(std::string_view word, std::string_view kind, std::span<const std::string_view> names);

// Throws the same, pointing at the word.
[[noreturn]] void fail_unknown(const Word& word, std::string_view kind, std::span<const std::string_view> names);

}  // namespace vase
