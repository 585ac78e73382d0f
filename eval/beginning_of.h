// The beginning of a text, for messages.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "eval/printable.h"

namespace vase::eval {

// One printable line of at most so many bytes, cut between characters, and dots where something is missing.
inline std::string beginning_of(std::string_view text, size_t bytes = 60) {
  size_t most = std::min(text.size(), bytes);
  while (most < text.size() && (text[most] & 0xC0) == 0x80) --most;
  return printable(std::string(text.substr(0, most))) + (most < text.size() ? "..." : "");
}

}  // namespace vase::eval
