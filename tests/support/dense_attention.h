// Causal attention over everything, written for reading: the plain reference that stands in for the slot
// cache when the model itself is tested. One sequence.
#pragma once

#include <vector>

#include "model/forward.h"

namespace vase::test {

class DenseAttention : public model::LayerAttention {
 public:
  // f16_rows: keys and values are rounded to half precision when they are stored.
  explicit DenseAttention(const model::HParams& hparams, bool f16_rows = false);
  void attend(const model::LayerInputs& in) noexcept override;

 private:
  struct Head {
    std::vector<float> keys, values;  // [tokens][head_dim]
  };
  void append(Head& head, const float* key, const float* value);
  void attend_one(const Head& head, const float* query, float* out) const;

  model::HParams hparams_;
  bool f16_rows_;
  std::vector<Head> heads_;  // [layer][kv_head]
};

}  // namespace vase::test
