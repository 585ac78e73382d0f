// The Python program of math_verify.py, put into the library when it is built.
#pragma once

#include <string_view>

namespace vase::eval {

extern const std::string_view kMathVerifyProgram;

}  // namespace vase::eval
