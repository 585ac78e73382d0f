#include "eval/tune.h"

#include <string>

#include "vase/error.h"

namespace vase::eval {
namespace {

void check(const BudgetRange& r) {
  if (r.step >= 1 && r.lowest >= 1 && r.lowest <= r.highest && r.lowest % r.step == 0 &&
      r.highest % r.step == 0)
    return;
  throw Error(ErrorCode::kUsage, "budgets from " + std::to_string(r.lowest) + " to " +
                                     std::to_string(r.highest) + " in steps of " + std::to_string(r.step) +
                                     "; allowed: multiples of the step, the smaller one first");
}

}  // namespace

FoundBudget smallest_budget_below(double target, const BudgetRange& range,
                                  const std::function<std::optional<double>(int)>& measure) {
  check(range);
  FoundBudget found;
  // Whether a budget is good enough; also false when the measurement was ended.
  const auto is_enough = [&](int budget) {
    const std::optional<double> value = measure(budget);
    found.complete = value.has_value();
    if (!value) return false;
    found.probes.push_back({budget, *value});
    if (*value <= target) found.budget = budget;
    return *value <= target;
  };
  int below = 0;  // the largest that is not good enough
  for (int budget = range.lowest; !is_enough(budget);
       budget = budget > range.highest / 2 ? range.highest : 2 * budget) {
    if (!found.complete || budget == range.highest) return found;
    below = budget;
  }
  while (below > 0 && *found.budget - below > range.step) {
    const int middle = (below + (*found.budget - below) / 2) / range.step * range.step;
    if (!is_enough(middle)) below = middle;
    if (!found.complete) return found;
  }
  return found;
}

}  // namespace vase::eval
