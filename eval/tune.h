// The smallest budget that is good enough, by measuring few of them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace vase::eval {

struct BudgetRange {
  int lowest, highest;  // multiples of step, the first not above the second
  int step;             // only multiples of it are looked at
};

struct BudgetProbe {
  int budget;
  double value;
};

struct FoundBudget {
  std::optional<int> budget;        // empty: none that was measured is good enough
  std::vector<BudgetProbe> probes;  // in the order of their measurement
  bool complete = true;             // false: a measurement was ended
};

// Doubles from the lowest budget until the value is at most `target`, or the highest is not good enough; then
// halves the gap to the largest budget that was not, until they are one step apart. So the budget found is
// good enough and none of the smaller ones that were measured is; where values do not fall with the budget,
// one that was not measured may be. measure: the value at a budget, or nothing to end the search. Throws
// Error(kUsage) for a range that is none, and what measure throws.
FoundBudget smallest_budget_below(double target, const BudgetRange& range,
                                  const std::function<std::optional<double>(int)>& measure);

}  // namespace vase::eval
