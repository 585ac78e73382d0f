// Whether two answers, read, mean the same.
#pragma once

#include "eval/grading/expression.h"

namespace vase::eval::grading {

bool same(const Node& given, const Node& expected);

}  // namespace vase::eval::grading
