#include "eval/grading/evaluate.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "base/fnv.h"
#include "eval/grading/functions.h"

namespace vase::eval::grading {
namespace {

using Result = std::optional<Value>;

uint64_t hash(const std::string& name, int point) {
  Fnv all;
  all.add(name + char('0' + point));
  return all.value() ^ all.value() >> 32;
}

// An odd number of 64ths, so that nothing like x - 1 is zero. At the later points every other one is negative, which of
// them depends on the name.
Value variable(const std::string& name, int point) {
  const auto size = static_cast<int64_t>(33 + hash(name, point) % 64 * 2);
  const bool negative = point >= kPoints / 2 && (hash(name, 0) + static_cast<uint64_t>(point)) % 2 == 0;
  return *quotient(whole(negative ? -size : size), whole(64));
}

Value named(const std::string& name, int point) {
  if (name == "pi") return {std::numbers::pi, {}};
  if (name == "e") return {std::numbers::e, {}};
  if (name == "i") return imaginary_unit();
  if (name == "inf") return {std::numeric_limits<double>::infinity(), {}};
  return variable(name, point);
}

// Sums or products of all parts.
template <typename Operation>
Result folded(const Node& node, int point, Operation operation) {
  Result all;
  for (const Node& part : node.parts) {
    const Result value = evaluate(part, point);
    if (!value) return std::nullopt;
    all = all ? operation(*all, *value) : *value;
    if (!is_usable(*all)) return std::nullopt;
  }
  return all;
}

Result two(const Node& node, int point, Result (*operation)(const Value&, const Value&)) {
  const Result a = evaluate(node.parts[0], point), b = evaluate(node.parts[1], point);
  return a && b && is_usable(*a) && is_usable(*b) ? operation(*a, *b) : std::nullopt;
}

Result called(const Node& node, int point) {
  Value arguments[2];
  for (size_t i = 0; i < node.parts.size() && i < std::size(arguments); ++i) {
    const Result value = evaluate(node.parts[i], point);
    if (!value || !is_usable(*value)) return std::nullopt;
    arguments[i] = *value;
  }
  const bool degrees = node.parts[0].kind == Kind::kDegrees && is_angular(node.text);
  if (degrees) arguments[0] = product(arguments[0], {std::numbers::pi / 180, {}});
  return function_value(node.text, {arguments, node.parts.size()});
}

}  // namespace

std::optional<Value> evaluate(const Node& node, int point) {
  switch (node.kind) {
    case Kind::kNumber:
      return number(node.text);
    case Kind::kName:
      return named(node.text, point);
    case Kind::kSum:
      return folded(node, point, sum);
    case Kind::kProduct:
      return folded(node, point, product);
    case Kind::kQuotient:
      return two(node, point, quotient);
    case Kind::kPower:
      return two(node, point, power);
    case Kind::kCall:
      return called(node, point);
    case Kind::kDegrees:
      return evaluate(node.parts[0], point);
    case Kind::kNegative: {
      const Result value = evaluate(node.parts[0], point);
      return value ? Result(negative(*value)) : std::nullopt;
    }
    case Kind::kPercent: {
      const Result value = evaluate(node.parts[0], point);
      return value ? quotient(*value, whole(100)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace vase::eval::grading
