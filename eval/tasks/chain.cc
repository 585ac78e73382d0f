// chain: a long computation whose steps are listed, and every step needs a result from many lines ago.
#include <algorithm>
#include <string>
#include <vector>

#include "eval/tasks/procedures.h"
#include "eval/tasks/steps.h"

namespace vase::eval {
namespace {

constexpr Setting kSettings[] = {
    {"steps", 40, 3, 2000, "values to compute, the two given ones included"},
    {"back", 15, 1, 2000, "a step refers to a value at least so many before it, or to the oldest ones"},
    {"digits", 2, 1, 6, "most digits of a value"},
};

struct Step {
  int left, right;
  char sign;
};

// Step n (from 3): the value before it and an earlier one, added or subtracted so that the result is not negative and
// not longer than the start values.
Step make_step(int n, int back, const std::vector<int64_t>& x, int64_t most, Random& random) {
  const int other = random.between(1, std::max(1, n - std::max(2, back)));
  const int64_t before = x[n - 2], earlier = x[other - 1];
  const bool add = before + earlier <= most && (before == earlier || random.below(2) == 0);
  if (add) return {n - 1, other, '+'};
  return before >= earlier ? Step{n - 1, other, '-'} : Step{other, n - 1, '-'};
}

Problem make(const Settings& settings, Random& random) {
  const int steps = settings.at("steps"), digits = settings.at("digits");
  std::vector<int64_t> x = {random_value(digits, random), random_value(digits, random)};
  int64_t most = 9;
  for (int i = 1; i < digits; ++i) most = 10 * most + 9;
  std::string formulas, lines;
  for (int n = 3; n <= steps; ++n) {
    const auto [left, right, sign] = make_step(n, settings.at("back"), x, most, random);
    const int64_t a = x[left - 1], b = x[right - 1];
    formulas += "\n" + step_formula(n, left, sign, right);
    lines += (n == 3 ? "" : "\n") + step_line(n, left, sign, right, a, b);
    x.push_back(step_result(a, sign, b));
  }
  Problem problem;
  problem.answer = std::to_string(x.back());
  problem.problem = start_text(x[0], x[1]) + " The steps are:" + formulas + "\nCompute one after the other. What is x" +
                    std::to_string(steps) + "?" + list_begin(lines);
  problem.worked = lines + worked_end(problem.answer);
  return problem;
}

}  // namespace

const Procedure kChain = {"chain", "sums and differences of earlier results, each step listed in the prompt", kSettings,
                          make};

}  // namespace vase::eval
