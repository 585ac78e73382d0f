// Sums of which the last digits are kept: what `chain` and `halves` are made of.
#pragma once

#include <string>

#include "eval/random.h"

namespace vase::eval {

int last_digits(int value, int digits);         // value mod 10^digits
int random_value(int digits, Random& random);   // one with all its digits: 10 to 99 for two
std::string start_text(int first, int second);  // "x1 = 47 and x2 = 13."
std::string keep_text(int digits);              // says that the last digits are kept
std::string sum_formula(int n, int other);      // "x9 = x8 + x4"
// "x9 = x8 + x4 = 58 + 71 = 129, keep 29": before and from are the values of x8 and x4.
std::string sum_line(int n, int other, int before, int from, int digits);

}  // namespace vase::eval
