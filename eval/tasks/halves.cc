// halves: x(n) = x(n-1) + x(n/2). The prompt is short: all that is needed later stands in the generated text alone, and
// it lies further back with every line.
#include <string>
#include <vector>

#include "eval/tasks/last_digits.h"
#include "eval/tasks/procedures.h"

namespace vase::eval {
namespace {

constexpr Setting kSettings[] = {
    {"steps", 40, 4, 2000, "values to compute, the two given ones included"},
    {"digits", 2, 1, 6, "digits of a value"},
};

Problem make(const Settings& settings, Random& random) {
  const int steps = settings.at("steps"), digits = settings.at("digits");
  std::vector<int> values = {random_value(digits, random), random_value(digits, random)};
  std::string lines, example;
  for (int n = 3; n <= steps; ++n) {
    const int other = n / 2;
    const std::string line = sum_line(n, other, values[n - 2], values[other - 1], digits);
    values.push_back(last_digits(values[n - 2] + values[other - 1], digits));
    if (n <= 4) example += line + "\n";  // an odd and an even number
    lines += (n == 3 ? "" : "\n") + line;
  }
  const std::string last = std::to_string(steps), answer = std::to_string(values.back());
  Problem problem;
  problem.problem =
      start_text(values[0], values[1]) +
      " Every further value is the sum of the one before it and of the one with half its number, rounded down: "
      "x8 = x7 + x4 and x9 = x8 + x4. " +
      keep_text(digits) + "\nWrite one line for every value, from x3 to x" + last + ". The first lines are:\n" +
      example + "What is x" + last + "?";
  problem.answer = answer;
  problem.worked = lines + worked_end(answer);
  return problem;
}

}  // namespace

const Procedure kHalves = {"halves", "a recurrence that reaches back to half its index; a short prompt", kSettings,
                           make};

}  // namespace vase::eval
