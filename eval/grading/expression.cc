#include "eval/grading/expression.h"

#include <algorithm>

namespace vase::eval::grading {

bool is_constant(const std::string& name) { return name == "e" || name == "i" || name == "pi" || name == "inf"; }

bool has_variables(const Node& node) {
  if (node.kind == Kind::kName) return !is_constant(node.text);
  return std::ranges::any_of(node.parts, has_variables);
}

bool identical(const Node& a, const Node& b) {
  return a.kind == b.kind && a.text == b.text && std::ranges::equal(a.parts, b.parts, identical);
}

}  // namespace vase::eval::grading
