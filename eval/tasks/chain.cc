// chain: a long computation whose steps are listed, and every step needs a result from many lines ago.
#include <algorithm>
#include <string>
#include <vector>

#include "eval/tasks/last_digits.h"
#include "eval/tasks/procedures.h"

namespace vase::eval {
namespace {

constexpr Setting kSettings[] = {
    {"steps", 40, 3, 2000, "values to compute, the two given ones included"},
    {"back", 15, 1, 2000, "a step refers to a value at least so many before it, or to the oldest ones"},
    {"digits", 2, 1, 6, "digits of a value"},
};

// The value that step n (from 3) adds to the one before it.
int reference(int n, int back, Random& random) { return random.between(1, std::max(1, n - std::max(2, back))); }

Problem make(const Settings& settings, Random& random) {
  const int steps = settings.at("steps"), digits = settings.at("digits");
  std::vector<int> values = {random_value(digits, random), random_value(digits, random)};
  std::string formulas, lines, first;
  for (int n = 3; n <= steps; ++n) {
    const int other = reference(n, settings.at("back"), random);
    formulas += "\n" + sum_formula(n, other);
    const std::string line = sum_line(n, other, values[n - 2], values[other - 1], digits);
    values.push_back(last_digits(values[n - 2] + values[other - 1], digits));
    if (n == 3) first = line;
    lines += (n == 3 ? "" : "\n") + line;
  }
  const std::string last = std::to_string(steps), answer = std::to_string(values.back());
  Problem problem;
  problem.problem = start_text(values[0], values[1]) + " " + keep_text(digits) + " The steps are:" + formulas +
                    "\nWrite one line for every step, from x3 to x" + last + ". The first line is:\n" + first +
                    "\nWhat is x" + last + "?";
  problem.answer = answer;
  problem.worked = lines + worked_end(answer);
  return problem;
}

}  // namespace

const Procedure kChain = {"chain", "sums of earlier results, each step listed in the prompt", kSettings, make};

}  // namespace vase::eval
