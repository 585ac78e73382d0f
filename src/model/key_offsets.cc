#include "model/key_offsets.h"

#include <ggml.h>

#include <algorithm>

namespace vase::model {
namespace {

// More of them cost time at every step; the rest of a bias is no larger than what varies in the keys.
constexpr int kMostPairs = 8;

bool has_constant_part(const LayerWeights& layer) { return layer.bk && !layer.k_norm; }

}  // namespace

std::vector<kernels::KeyOffset> key_offsets(const Weights& weights, const Rope& rope) {
  std::vector<kernels::KeyOffset> offsets;
  if (std::ranges::none_of(weights.layers(), has_constant_part)) return offsets;
  const HParams& h = weights.hparams();
  for (const LayerWeights& layer : weights.layers()) {
    const auto* bias = has_constant_part(layer) ? static_cast<const float*>(layer.bk->data) : nullptr;
    for (int head = 0; head < h.kv_heads; ++head) {
      if (!bias) {
        offsets.emplace_back();
        continue;
      }
      offsets.push_back(kernels::key_offset({bias + size_t(head) * h.head_dim, size_t(h.head_dim)}, rope, kMostPairs));
    }
  }
  return offsets;
}

}  // namespace vase::model
