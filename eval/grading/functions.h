// The functions that answers use.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "eval/grading/value.h"

namespace vase::eval::grading {

// sin, cos, ...: takes an angle.
bool is_angular(std::string_view function);

// "root" (radicand, degree), "log" (argument, base; 10 without), "binom", "factorial", "abs", "floor", "ceil", and
// those of one argument that vocabulary.h lists. Empty where it is not defined, or for another function.
std::optional<Value> function_value(std::string_view function, std::span<const Value> arguments);

}  // namespace vase::eval::grading
