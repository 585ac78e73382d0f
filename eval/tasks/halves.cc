// halves: x(n) = x(n-1) + x(n/2). The prompt is short: all that is needed later stands in the generated text alone, and
// it lies further back with every line.
#include <string>
#include <vector>

#include "eval/tasks/procedures.h"
#include "eval/tasks/steps.h"

namespace vase::eval {
namespace {

// Values grow as n^(log2(n) / 2): to about 2^22 times the given ones within 100 steps.
constexpr Setting kSettings[] = {
    {"steps", 30, 4, 100, "values to compute, the two given ones included"},
    {"digits", 1, 1, 6, "digits of the given values"},
};

Problem make(const Settings& settings, Random& random) {
  const int steps = settings.at("steps"), digits = settings.at("digits");
  std::vector<int64_t> x = {random_value(digits, random), random_value(digits, random)};
  std::string lines;
  for (int n = 3; n <= steps; ++n) {
    const int64_t before = x[n - 2], earlier = x[n / 2 - 1];
    lines += (n == 3 ? "" : "\n") + step_line(n, n - 1, '+', n / 2, before, earlier);
    x.push_back(before + earlier);
  }
  Problem problem;
  problem.answer = std::to_string(x.back());
  problem.problem =
      start_text(x[0], x[1]) +
      " Every further value is the sum of the one before it and of the one with half its number, rounded down: "
      "x8 = x7 + x4 and x9 = x8 + x4.\nCompute one after the other. What is x" +
      std::to_string(steps) + "?" + list_begin(lines);
  problem.worked = lines + worked_end(problem.answer);
  return problem;
}

}  // namespace

const Procedure kHalves = {"halves", "a recurrence that reaches back to half its index; a short prompt", kSettings,
                           make};

}  // namespace vase::eval
