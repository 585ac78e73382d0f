#include "eval/report/labels.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace vase::eval::report {
namespace {

// Values that share one place.
struct Pool {
  double sum;
  size_t count;
  double mean() const { return sum / static_cast<double>(count); }
};

// The nearest list that never falls: neighbours in the wrong order are pooled.
std::vector<double> rising(const std::vector<double>& values) {
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  std::vector<double> out;
  for (const Pool& pool : pools) out.insert(out.end(), pool.count, pool.mean());
  return out;
}

}  // namespace

// Less i gaps for the i-th of them, places that are a gap apart are places that never fall.
std::vector<double> spread_apart(const std::vector<double>& wanted, double gap, double low, double high) {
  if (wanted.empty()) return {};
  const double gaps = static_cast<double>(wanted.size() - 1);
  if (gaps * gap > high - low) gap = (high - low) / gaps;
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(wanted[i], i); });
  std::vector<double> levels;
  for (size_t i = 0; i < order.size(); ++i) levels.push_back(wanted[order[i]] - gap * static_cast<double>(i));
  levels = rising(levels);
  std::vector<double> places(wanted.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const double level = std::max(low, std::min(levels[i], high - gaps * gap));
    places[order[i]] = level + gap * static_cast<double>(i);
  }
  return places;
}

}  // namespace vase::eval::report
