#include "engine/row_choice.h"

namespace vase {

bool fits_heads(RowType type, const ModelShape& shape) { return shape.head_dim % row_block(type) == 0; }

bool goes_with_reading(const Policy& policy, RowTypes types) {
  return !policy.reads() || (!is_quantised(types.key) && !is_quantised(types.value));
}

bool goes_with_positions(Positions positions, RowType key) {
  return positions == Positions::kText || key == RowType::kF32 || key == RowType::kF16;
}

std::vector<RowTypes> usable_types(const ModelShape& shape, const Policy& policy, const CacheOptions& cache) {
  std::vector<RowTypes> usable;
  for (const RowTypes types : kAutoTypes) {
    if (fits_heads(types.key, shape) && fits_heads(types.value, shape) && goes_with_reading(policy, types) &&
        goes_with_positions(cache.positions, types.key)) {
      usable.push_back(types);
    }
  }
  return usable;
}

RowTypes choose_types(std::span<const RowTypes> types, int64_t longest,
                      const std::function<int64_t(RowTypes)>& held) {
  RowTypes most = types.front();
  int64_t most_held = -1;
  for (const RowTypes one : types) {
    const int64_t tokens = held(one);
    if (tokens >= longest) return one;
    if (tokens > most_held) {
      most = one;
      most_held = tokens;
    }
  }
  return most;
}

}  // namespace vase
