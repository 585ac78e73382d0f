// Turns bytes of generated tokens into text that is safe to show: whole UTF-8 characters only, and nothing that might
// be the beginning of a stop string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vase::text {

class TextStream {
 public:
  // Empty stop strings and invalid UTF-8 in them are refused with Error(kUsage).
  explicit TextStream(std::vector<std::string> stops);

  // Adds bytes; returns the text that became safe: always valid UTF-8, bytes that can never become a character given as
  // U+FFFD. After a stop string was found, stopped() is true, the text before it has been returned, and further bytes
  // are ignored. Of several stop strings the one that is complete first counts, and of those that are complete at the
  // same byte the longest, so the result does not depend on how the bytes were cut.
  std::string push(std::string_view bytes);
  // End of generation: returns what was held back. Bytes that never became a character are given as U+FFFD.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

// Byte offset of the first invalid UTF-8 sequence, or npos when the text is valid.
size_t find_invalid_utf8(std::string_view text);

}  // namespace vase::text
