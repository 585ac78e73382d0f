// What tests of attention over evicting heads run with: policies with rows of f16, and with quantised ones in two parts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vase/options.h"

namespace vase::test {

struct RowSetting {
  std::string policy;
  RowType keys = RowType::kF16, values = RowType::kF16;

  std::string describe() const { return policy + ", " + row_types_name(keys, values); }
  // The same cache with these types.
  CacheOptions with_types(CacheOptions cache) const {
    cache.key_type = keys;
    cache.value_type = values;
    return cache;
  }
};

// Each of the policies with f16, and with quantised rows those that keep different records: the window's maximum with
// log-weights, log-weights alone, a lifetime's sum, and recurrence.
inline std::vector<RowSetting> row_settings(std::span<const char* const> policies) {
  std::vector<RowSetting> all;
  for (const char* policy : policies) all.push_back({policy});
  for (const char* policy : {"vase", "vase-dkv-weighted", "h2o", "lazy-eviction"}) {
    all.push_back({policy, RowType::kQ8_0, RowType::kQ8_0});
    all.push_back({policy, RowType::kQ4_0, RowType::kQ4_0});
    all.push_back({policy, RowType::kQ8_0, RowType::kQ4_0});
  }
  return all;
}

}  // namespace vase::test
