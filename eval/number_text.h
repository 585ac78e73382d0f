// Numbers as tables and figures show them.
#pragma once

#include <cstdio>
#include <string>

namespace vase::eval {

// As printf with one double: number_text("%.1f", 2.25).
inline std::string number_text(const char* format, double value) {
  char text[400];  // %f of the largest double has 310 digits before the point
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// A share as percent with one digit: 0.125 is "12.5".
inline std::string percent_text(double share) { return number_text("%.1f", 100 * share); }

}  // namespace vase::eval
