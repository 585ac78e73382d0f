// Runs the model over a given text and collects the logits of every token.
#pragma once

#include <span>
#include <vector>

#include "model/forward.h"

namespace vase::test {

// Logits [tokens.size()][vocabulary] of one sequence that starts at position 0, fed `chunk` tokens at a time.
std::vector<float> forced_logits(const std::shared_ptr<const model::Weights>& weights,
                                 model::LayerAttention& attention, std::span<const int32_t> tokens, int chunk,
                                 int threads);

// 0, 1, ..., count - 1.
std::vector<int32_t> ascending(size_t count);

}  // namespace vase::test
