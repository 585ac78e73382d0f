// The beginning of a text, for messages.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace vase::eval {

// One line of at most 60 bytes, cut between characters, and dots where something is missing.
inline std::string beginning_of(std::string_view text) {
  size_t most = std::min<size_t>(text.size(), 60);
  while (most < text.size() && (text[most] & 0xC0) == 0x80) --most;
  std::string line(text.substr(0, most));
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line + (most < text.size() ? "..." : "");
}

}  // namespace vase::eval
