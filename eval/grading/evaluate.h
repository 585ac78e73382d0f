// What an expression is worth where its variables have certain values.
#pragma once

#include <optional>

#include "eval/grading/expression.h"
#include "eval/grading/value.h"

namespace vase::eval::grading {

// Points at which expressions with variables are compared. A variable's value there depends on its name and the point
// alone: it lies between 0.5 and 2.5, and at some of the second half of the points below zero.
constexpr int kPoints = 6;

// Empty when the node is no number (words, intervals, plus-minus ...) or not defined at the point.
std::optional<Value> evaluate(const Node& node, int point);

}  // namespace vase::eval::grading
