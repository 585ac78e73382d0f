// A stand-in for attention that mixes a token's own query, key and value and nothing else, so that the tokens
// of a batch are independent of each other.
#pragma once

#include "model/forward.h"

namespace vase::test {

class MixingAttention : public model::LayerAttention {
 public:
  explicit MixingAttention(const model::HParams& hparams) : hparams_(hparams) {}

  void attend(const model::LayerInputs& in) noexcept override {
    const int d = hparams_.head_dim, heads = hparams_.query_heads;
    for (int t = in.ith; t < in.tokens; t += in.nth) {
      for (int h = 0; h < heads; ++h) {
        const int kv = (t * hparams_.kv_heads + h / hparams_.group()) * d, q = (t * heads + h) * d;
        for (int c = 0; c < d; ++c) in.out[q + c] = in.q[q + c] * 0.5f + in.k[kv + c] + in.v[kv + c];
      }
    }
  }

 private:
  model::HParams hparams_;
};

}  // namespace vase::test
