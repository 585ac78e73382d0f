// Equations and inequalities: what they say about a variable, and whether two say the same.
#pragma once

#include "eval/grading/expression.h"

namespace vase::eval::grading {

// Of a relation what it comes to, anything else unchanged:
//  a = b = c         a = c; where a is a name, it stands on the left of an equation of two
//  2 + 3 = 5         5
//  a = b \approx c   what stands in front of \approx
//  x \in S           S
//  a < x \le b       the interval (a, b]; also x > a and a \ge x, for a single variable
//  a > b             b < a
Node reduced(const Node& node);

// A variable, words, f(x), (x, y), AB: what an equation gives a value to.
bool is_named(const Node& node);

// Inequalities of two sides, whichever way they are written, that say the same: 2x < 6 and 3 > x.
bool same_orders(const Node& a, const Node& b);

// Two relations of two sides with the same sign: that their differences are the same but for a constant factor,
// positive for inequalities.
bool same_zeros(const Node& a, const Node& b);

}  // namespace vase::eval::grading
