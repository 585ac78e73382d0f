#include "eval/tasks/last_digits.h"

namespace vase::eval {
namespace {

int power_of_ten(int digits) {
  int power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

}  // namespace

int last_digits(int value, int digits) { return value % power_of_ten(digits); }

int random_value(int digits, Random& random) {
  return random.between(digits == 1 ? 1 : power_of_ten(digits - 1), power_of_ten(digits) - 1);
}

std::string start_text(int first, int second) {
  return "x1 = " + std::to_string(first) + " and x2 = " + std::to_string(second) + ".";
}

std::string keep_text(int digits) {
  if (digits == 1) return "Of every sum only the last digit is kept: of 15 keep 5.";
  const std::string example = std::to_string(power_of_ten(digits) + 4);
  return "Of every sum only the last " + std::to_string(digits) + " digits are kept: of " + example + " keep 4.";
}

std::string sum_formula(int n, int other) {
  return "x" + std::to_string(n) + " = x" + std::to_string(n - 1) + " + x" + std::to_string(other);
}

std::string sum_line(int n, int other, int before, int from, int digits) {
  const int sum = before + from;
  return sum_formula(n, other) + " = " + std::to_string(before) + " + " + std::to_string(from) + " = " +
         std::to_string(sum) + ", keep " + std::to_string(last_digits(sum, digits));
}

}  // namespace vase::eval
