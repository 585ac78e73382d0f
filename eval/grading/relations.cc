#include "eval/grading/relations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "eval/grading/evaluate.h"

namespace vase::eval::grading {
namespace {

bool is_variable(const Node& node) { return node.kind == Kind::kName && !is_constant(node.text); }

bool is_capital(const Node& node) {
  return node.kind == Kind::kName && node.text.size() == 1 && node.text[0] >= 'A' && node.text[0] <= 'Z';
}

Node relation(char sign, Node left, Node right) {
  return {Kind::kRelation, std::string(1, sign), {std::move(left), std::move(right)}};
}

Node infinity(bool below_zero) {
  Node all{Kind::kName, "inf", {}};
  return below_zero ? Node{Kind::kNegative, "", {std::move(all)}} : all;
}

bool is_upward(char sign) { return sign == sign::kLess || sign == sign::kAtMost; }
bool is_order(char sign) { return is_upward(sign) || sign == sign::kGreater || sign == sign::kAtLeast; }

char turned(char sign) {
  switch (sign) {
    case sign::kLess:
      return sign::kGreater;
    case sign::kGreater:
      return sign::kLess;
    case sign::kAtMost:
      return sign::kAtLeast;
    case sign::kAtLeast:
      return sign::kAtMost;
    default:
      return sign;
  }
}

// The same relation, from right to left.
Node turned(const Node& node) {
  Node all = node;
  std::ranges::reverse(all.parts);
  std::ranges::reverse(all.text);
  std::ranges::transform(all.text, all.text.begin(), [](char sign) { return turned(sign); });
  return all;
}

// low < x <= high, both signs upward.
Node interval(char low_sign, Node low, char high_sign, Node high) {
  std::string brackets = low_sign == sign::kLess ? "(" : "[";
  brackets += high_sign == sign::kLess ? ")" : "]";
  return {Kind::kGroup, brackets, {std::move(low), std::move(high)}};
}

// Orders, turned upward.
Node reduced_order(const Node& node) {
  const std::string& signs = node.text;
  const auto& parts = node.parts;
  if (parts.size() == 3 && is_variable(parts[1]) && !has_variables(parts[0]) && !has_variables(parts[2])) {
    return interval(signs[0], parts[0], signs[1], parts[2]);
  }
  if (parts.size() == 2 && is_variable(parts[0]) && !has_variables(parts[1])) {
    return interval(sign::kLess, infinity(true), signs[0], parts[1]);
  }
  if (parts.size() == 2 && is_variable(parts[1]) && !has_variables(parts[0])) {
    return interval(signs[0], parts[0], sign::kLess, infinity(false));
  }
  return node;
}

Node reduced_equation(Node node) {
  if (const size_t about = node.text.find(sign::kAbout); about != std::string::npos) {
    if (about > 0 || !is_named(node.parts[0])) {
      node.parts.resize(about + 1);
      node.text.resize(about);
    }
  }
  const auto is_number = [](const Node& part) { return !has_variables(part) && part.kind != Kind::kText; };
  if (std::ranges::all_of(node.parts, is_number)) return node.parts.back();  // "2 + 3 = 5"
  if (node.parts.size() == 1) return node.parts[0];
  if (is_named(node.parts.front()) || !is_named(node.parts.back())) {
    return relation(sign::kEqual, node.parts.front(), node.parts.back());
  }
  return relation(sign::kEqual, node.parts.back(), node.parts.front());
}

Node difference(const Node& relation) {
  return {Kind::kSum, "", {relation.parts[0], Node{Kind::kNegative, "", {relation.parts[1]}}}};
}

bool is_zero(const Value& value) { return same_value(value, whole(0)); }

}  // namespace

Node reduced(const Node& node) {
  if (node.kind != Kind::kRelation) return node;
  const auto all_signs = [&](auto fits) { return std::ranges::all_of(node.text, fits); };
  if (all_signs([](char sign) { return sign == sign::kEqual || sign == sign::kAbout; })) return reduced_equation(node);
  if (node.text == std::string(1, sign::kIn) && is_named(node.parts[0])) return node.parts[1];
  if (all_signs(is_upward)) return reduced_order(node);
  if (all_signs([](char sign) { return is_order(sign) && !is_upward(sign); })) return reduced_order(turned(node));
  return node;
}

bool is_named(const Node& node) {
  if (is_variable(node) || node.kind == Kind::kText) return true;
  if (node.kind == Kind::kGroup && node.text == "()") return std::ranges::all_of(node.parts, is_variable);
  if (node.kind != Kind::kProduct) return false;
  return (node.text == "()" && node.parts.size() == 2) || std::ranges::all_of(node.parts, is_capital);
}

bool same_orders(const Node& a, const Node& b) {
  const auto upward = [](const Node& node) { return is_upward(node.text[0]) ? node : turned(node); };
  const auto fits = [](const Node& node) {
    return node.kind == Kind::kRelation && node.text.size() == 1 && is_order(node.text[0]);
  };
  if (!fits(a) || !fits(b)) return false;
  const Node left = upward(a), right = upward(b);
  return left.text == right.text && same_zeros(left, right);
}

bool same_zeros(const Node& a, const Node& b) {
  const Node left = difference(a), right = difference(b);
  const bool order = a.text != std::string(1, sign::kEqual) && a.text != std::string(1, sign::kNotEqual);
  std::optional<std::pair<Value, Value>> first;
  for (int point = 0; point < kPoints; ++point) {
    const auto x = evaluate(left, point), y = evaluate(right, point);
    if (!x || !y) return false;
    if (is_zero(*x) != is_zero(*y)) return false;
    if (is_zero(*x)) continue;
    if (!first) first.emplace(*x, *y);
    if (!same_value(product(*x, first->second), product(*y, first->first))) return false;
    if (order && x->close.real() * y->close.real() < 0) return false;
  }
  return first.has_value();
}

}  // namespace vase::eval::grading
