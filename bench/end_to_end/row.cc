#include "end_to_end/row.h"

#include <algorithm>

#include "eval/statistics.h"

namespace vase::bench {

double Row::kept_fraction() const {
  return seen > memory.budget ? static_cast<double>(memory.budget) / static_cast<double>(seen) : 1;
}

double worst_over_median(const Row& row) {
  std::vector<double> ratios;
  const size_t steps = row.what.test.tokens;
  for (size_t first = 0; first + steps <= row.step_s.size(); first += steps) {
    const std::vector<double> repeat(row.step_s.begin() + first, row.step_s.begin() + first + steps);
    ratios.push_back(std::ranges::max(repeat) / eval::median(repeat));
  }
  return eval::median(ratios);
}

std::optional<double> evicting_over_other(const Row& row) {
  std::vector<double> evicting, other;
  for (size_t i = 0; i < row.step_s.size(); ++i)
    (row.step_evicts[i] ? evicting : other).push_back(row.step_s[i]);
  if (evicting.empty() || other.empty()) return std::nullopt;
  return eval::median(evicting) / eval::median(other);
}

}  // namespace vase::bench
