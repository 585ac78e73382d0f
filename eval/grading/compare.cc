#include "eval/grading/compare.h"

#include <algorithm>
#include <cmath>

#include "eval/grading/evaluate.h"
#include "eval/grading/notation.h"
#include "eval/grading/relations.h"

namespace vase::eval::grading {
namespace {

constexpr size_t kMostItems = 64;  // of a set or list; more are not compared

bool has_plus_minus(const Node& node) {
  return node.kind == Kind::kPlusMinus || std::ranges::any_of(node.parts, has_plus_minus);
}

// The expression with one of the two signs: all that are written above, or all below.
Node with_sign(const Node& node, bool upper) {
  Node all{node.kind, node.text, {}};
  for (const Node& part : node.parts) all.parts.push_back(with_sign(part, upper));
  if (node.kind != Kind::kPlusMinus) return all;
  if (upper == (node.text == "+")) return std::move(all.parts[0]);
  all.kind = Kind::kNegative;
  all.text.clear();
  return all;
}

bool is_collection(const Node& node) {
  return node.kind == Kind::kList || node.kind == Kind::kUnion || is_set(node) || has_plus_minus(node);
}

void add_item(const Node& node, std::vector<Node>& items) {
  if (!has_plus_minus(node)) {
    items.push_back(node);
    return;
  }
  items.push_back(with_sign(node, true));
  items.push_back(with_sign(node, false));
}

// What a list or set holds; the elements of sets that are joined, but not those of a set within a set.
void add_items(const Node& node, std::vector<Node>& items) {
  if (node.kind == Kind::kList || node.kind == Kind::kUnion) {
    for (const Node& part : node.parts) add_items(reduced(part), items);
  } else if (is_set(node)) {
    for (const Node& part : node.parts) add_item(part, items);
  } else {
    add_item(node, items);
  }
}

// Each item of one has its like in the other, in any order. Every pair is looked at once, so sets within sets take no
// longer than their sizes say.
bool same_collections(const Node& a, const Node& b) {
  std::vector<Node> left, right;
  add_items(a, left);
  add_items(b, right);
  if (left.size() > kMostItems || right.size() > kMostItems) return false;
  std::vector<bool> found(right.size());
  for (const Node& item : left) {
    bool any = false;
    for (size_t i = 0; i < right.size(); ++i) {
      if (!same(item, right[i])) continue;
      any = found[i] = true;
    }
    if (!any) return false;
  }
  return std::ranges::all_of(found, [](bool f) { return f; });
}

bool same_in_order(const std::vector<Node>& a, const std::vector<Node>& b) { return std::ranges::equal(a, b, same); }

// A written decimal, and not more than that.
bool is_decimal(const Node& node) {
  if (node.kind == Kind::kNegative) return is_decimal(node.parts[0]);
  return node.kind == Kind::kNumber && node.text.find('.') != std::string::npos;
}

bool is_literal(const Node& node) {
  return node.kind == Kind::kNumber || (node.kind == Kind::kNegative && is_literal(node.parts[0]));
}

// A decimal stands for a fraction or a root when it is right to six places (and to four digits).
bool is_rounded(const Node& a, const Node& b, const Value& x, const Value& y) {
  const Node& other = is_decimal(a) ? b : a;
  if (is_decimal(a) == is_decimal(b) || is_literal(other)) return false;
  constexpr double kHalfOfLast = 5.0001e-7;
  return std::abs(x.close - y.close) <= std::min(kHalfOfLast, 1e-4 * std::abs(y.close));
}

bool same_numbers(const Node& a, const Node& b) {
  const bool variables = has_variables(a) || has_variables(b);
  int defined = 0;
  for (int point = 0; point < (variables ? kPoints : 1); ++point) {
    const auto x = evaluate(a, point), y = evaluate(b, point);
    if (!x && !y) continue;
    if (!x || !y) return false;
    if (!same_value(*x, *y) && (variables || !is_rounded(a, b, *x, *y))) return false;
    ++defined;
  }
  return defined >= (variables ? 2 : 1);
}

// "x = 5" is as good as "5"; of "x = 5" and "y = 5" one is wrong, unless a name is a function's or a word.
bool same_relations(const Node& a, const Node& b) {
  const auto value_of = [](const Node& node) -> const Node* {
    const bool equation = node.kind == Kind::kRelation && node.text == std::string(1, sign::kEqual);
    return equation && is_named(node.parts[0]) ? &node.parts[1] : nullptr;
  };
  const Node *x = value_of(a), *y = value_of(b);
  if (a.kind != Kind::kRelation) return y && same(a, *y);
  if (b.kind != Kind::kRelation) return x && same(*x, b);
  if (x && y) {
    const Node &left = a.parts[0], &right = b.parts[0];
    const bool variables = left.kind == Kind::kName && right.kind == Kind::kName;
    if ((!variables || identical(left, right)) && same(*x, *y)) return true;
  }
  if (a.text != b.text) return false;
  return a.parts.size() == 2 ? same_zeros(a, b) : same_in_order(a.parts, b.parts);
}

std::vector<Node> entries_of(const Node& matrix) {
  std::vector<Node> all;
  for (const Node& row : matrix.parts) all.insert(all.end(), row.parts.begin(), row.parts.end());
  return all;
}

bool is_vector(const Node& matrix) { return matrix.parts.size() == 1 || matrix.parts[0].parts.size() == 1; }

// A row or a column is the same vector as a tuple.
bool same_matrices(const Node& a, const Node& b) {
  if (a.kind != Kind::kMatrix) return same_matrices(b, a);
  if (b.kind == Kind::kGroup) return is_vector(a) && same_in_order(entries_of(a), b.parts);
  if (b.kind != Kind::kMatrix) return false;
  return a.parts.size() == b.parts.size() && same_in_order(entries_of(a), entries_of(b));
}

// 28 % is 28 as well as 0.28.
bool same_percents(const Node& a, const Node& b) {
  if (a.kind != Kind::kPercent) return same_percents(b, a);
  if (b.kind == Kind::kPercent) return same_numbers(a.parts[0], b.parts[0]);
  return same_numbers(a, b) || same_numbers(a.parts[0], b);
}

// A number with its base and the same digits without it.
bool same_based(const Node& a, const Node& b) {
  if (a.kind != Kind::kBased) return same_based(b, a);
  if (b.kind == Kind::kBased) return identical(a, b);
  return b.kind == Kind::kNumber && a.text == b.text;
}

}  // namespace

bool same(const Node& given, const Node& expected) {
  if (identical(given, expected) || same_orders(given, expected)) return true;
  const Node a = reduced(given), b = reduced(expected);
  const auto either = [&](Kind kind) { return a.kind == kind || b.kind == kind; };
  if (is_collection(a) || is_collection(b)) return same_collections(a, b);
  if (either(Kind::kRelation)) return same_relations(a, b);
  if (either(Kind::kText)) return a.kind == b.kind && words_of(a.text) == words_of(b.text);
  if (either(Kind::kMatrix)) return same_matrices(a, b);
  if (either(Kind::kGroup)) return a.kind == b.kind && a.text == b.text && same_in_order(a.parts, b.parts);
  if (either(Kind::kBased)) return same_based(a, b);
  if (either(Kind::kPercent)) return same_percents(a, b);
  return same_numbers(a, b);
}

}  // namespace vase::eval::grading
