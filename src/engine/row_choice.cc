#include "engine/row_choice.h"

namespace vase {

std::vector<RowTypes> usable_types(const ModelShape& shape, const Policy& policy, const CacheOptions& cache) {
  std::vector<RowTypes> usable;
  for (const RowTypes types : kAutoTypes) {
    const bool quantises = is_quantised(types.key) || is_quantised(types.value);
    const bool blocks =
        shape.head_dim % row_block(types.key) == 0 && shape.head_dim % row_block(types.value) == 0;
    const bool moves = cache.positions == Positions::kCache && is_quantised(types.key);
    if (blocks && !moves && !(quantises && policy.reads())) usable.push_back(types);
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
