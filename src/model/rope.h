// How ggml rotates keys and queries of a model, as numbers: for parts of a policy that turn keys back, and for keys
// that move up in the cache.
#pragma once

#include <vector>

#include "model/weights.h"
#include "vase/head_view.h"

namespace vase::model {

struct RopeTable {
  std::vector<float> frequencies;  // [head_dim / 2] radians per position, scaling and factors included
  bool adjacent = false;
  float magnitude = 1;

  Rope view() const { return {frequencies, adjacent, magnitude}; }
};

// factors: [rope_dims / 2] divisors of the frequencies, or null. YaRN (arXiv 2309.00071) as ggml computes it.
RopeTable rope_table(const HParams& hparams, const float* factors);
RopeTable rope_table(const Weights& weights);

}  // namespace vase::model
