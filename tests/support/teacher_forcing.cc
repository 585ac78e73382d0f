#include "support/teacher_forcing.h"

#include <algorithm>
#include <numeric>

namespace vase::test {

std::vector<int32_t> ascending(size_t count) {
  std::vector<int32_t> list(count);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

std::vector<float> forced_logits(const std::shared_ptr<const model::Weights>& weights,
                                 model::LayerAttention& attention, std::span<const int32_t> tokens, int chunk,
                                 int threads) {
  model::Forward forward(weights, {.threads = threads, .max_tokens = chunk, .max_outputs = chunk});
  const std::vector<int32_t> numbers = ascending(std::max(tokens.size(), size_t(chunk)));
  std::vector<float> all;
  for (size_t begin = 0; begin < tokens.size(); begin += size_t(chunk)) {
    const size_t count = std::min(size_t(chunk), tokens.size() - begin);
    const auto logits = forward.run({.tokens = tokens.subspan(begin, count),
                                     .positions = std::span(numbers).subspan(begin, count),
                                     .outputs = std::span(numbers).first(count)},
                                    attention);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

}  // namespace vase::test
