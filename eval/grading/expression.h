// What an answer says, as a tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vase::eval::grading {

enum class Kind : uint8_t {
  kNumber,     // text: digits with at most one point; repeating ones in brackets, "0.1(6)"
  kName,       // text: a variable with its index and primes ("x", "alpha", "x_1", "f'"), or "e", "i", "pi", "inf"
  kSum,        // parts: terms
  kNegative,   // 1 part
  kPlusMinus,  // 1 part; text "+" for plus-minus, "-" for minus-plus
  kProduct,    // parts: factors; text "()" for a name in front of brackets, which may be f(x)
  kQuotient,   // 2 parts
  kPower,      // 2 parts: base and exponent
  kCall,       // text: a function of evaluate.cc; parts: its arguments
  kPercent,    // 1 part
  kDegrees,    // 1 part
  kBased,      // text: digits; 1 part: the base, a name
  kGroup,      // text: the brackets, "()", "(]", "[)", "[]" or "{}"; parts: what they hold, in order unless "{}"
  kList,       // parts without brackets around them, in no order
  kUnion,      // parts: sets
  kRelation,   // text: one of the signs below between every two parts
  kMatrix,     // parts: rows, which are groups of the same length
  kText,       // text: words
};

// Signs of relations, as the characters of a relation's text.
namespace sign {
constexpr char kEqual = '=', kLess = '<', kGreater = '>', kAtMost = 'l', kAtLeast = 'g', kNotEqual = 'n', kIn = 'e',
               kAbout = '~';
}

struct Node {
  Kind kind;
  std::string text;
  std::vector<Node> parts;
};

inline bool is_set(const Node& node) { return node.kind == Kind::kGroup && node.text == "{}"; }

// One of "e", "i", "pi", "inf".
bool is_constant(const std::string& name);
// Whether a name that is no constant occurs.
bool has_variables(const Node& node);
// The same tree.
bool identical(const Node& a, const Node& b);

}  // namespace vase::eval::grading
