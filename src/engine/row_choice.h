// Types of rows that a cache takes when its megabytes decide on them (CacheOptions::auto_types).
//
// The rule: the most precise of kAutoTypes with which the megabytes hold the longest text to its end without
// an eviction. When there are none, those with which they hold most tokens; of equals the more precise. That
// is q4_0, unless the megabytes are so few that the newest rows, which are f16 in any case, and the rows that
// policies see decoded take most of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vase/model.h"
#include "vase/options.h"
#include "vase/policy.h"

namespace vase {

struct RowTypes {
  RowType key = RowType::kF16, value = RowType::kF16;
  bool operator==(const RowTypes&) const = default;
};

// Most precise first. Values bear coarse steps better than keys do.
inline constexpr RowTypes kAutoTypes[] = {{RowType::kF16, RowType::kF16},
                                          {RowType::kQ8_0, RowType::kQ8_0},
                                          {RowType::kQ8_0, RowType::kQ4_0},
                                          {RowType::kQ4_0, RowType::kQ4_0}};

// What a type of rows must go with, and plan_engine() refuses otherwise: rows are whole blocks; a policy that reads a part
// copies single rows, which strips do not have; keys that move up are stored again each time.
bool fits_heads(RowType type, const ModelShape& shape);
bool goes_with_reading(const Policy& policy, RowTypes types);
bool goes_with_positions(Positions positions, RowType key);

// Of kAutoTypes those that go with the width of the model's heads, with a policy that reads single rows, and
// with keys that move up (Positions::kCache). f16 always does.
std::vector<RowTypes> usable_types(const ModelShape& shape, const Policy& policy, const CacheOptions& cache);

// types: most precise first, at least one. longest: tokens of the longest text. held: tokens that the
// megabytes hold with these types before the first eviction; 0 when they do not work at all.
RowTypes choose_types(std::span<const RowTypes> types, int64_t longest,
                      const std::function<int64_t(RowTypes)>& held);

}  // namespace vase
