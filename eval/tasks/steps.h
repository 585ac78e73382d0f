// Sums and differences of numbered values: what `chain` and `halves` are made of.
#pragma once

#include <cstdint>
#include <string>

#include "eval/random.h"

namespace vase::eval {

int64_t random_value(int digits, Random& random);  // one with all its digits: 10 to 99 for two

std::string start_text(int64_t first, int64_t second);  // "x1 = 47 and x2 = 13."

// "x9 = x8 - x4", for n = 9, left = 8, sign '-' and right = 4.
std::string step_formula(int n, int left, char sign, int right);
// "x9 = x8 - x4 = 58 - 21 = 37": a and b are the values of x8 and x4.
std::string step_line(int n, int left, char sign, int right, int64_t a, int64_t b);
int64_t step_result(int64_t a, char sign, int64_t b);

}  // namespace vase::eval
