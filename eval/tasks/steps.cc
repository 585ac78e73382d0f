#include "eval/tasks/steps.h"

namespace vase::eval {

int64_t random_value(int digits, Random& random) {
  int low = 1;
  for (int i = 1; i < digits; ++i) low *= 10;
  return random.between(low, 10 * low - 1);
}

std::string start_text(int64_t first, int64_t second) {
  return "x1 = " + std::to_string(first) + " and x2 = " + std::to_string(second) + ".";
}

std::string step_formula(int n, int left, char sign, int right) {
  return "x" + std::to_string(n) + " = x" + std::to_string(left) + " " + sign + " x" + std::to_string(right);
}

std::string step_line(int n, int left, char sign, int right, int64_t a, int64_t b) {
  return step_formula(n, left, sign, right) + " = " + std::to_string(a) + " " + sign + " " + std::to_string(b) + " = " +
         std::to_string(step_result(a, sign, b));
}

int64_t step_result(int64_t a, char sign, int64_t b) { return sign == '+' ? a + b : a - b; }

}  // namespace vase::eval
