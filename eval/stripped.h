// Text without the white space around it.
#pragma once

#include <string_view>

namespace vase::eval {

inline constexpr std::string_view kBlanks = " \t\r\n\f\v";

inline std::string_view stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace vase::eval
