#include "model/rope.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>

namespace vase::model {

RopeTable rope_table(const HParams& h, const float* factors) {
  RopeTable table;
  table.adjacent = h.rope == RopeKind::kAdjacent;
  table.magnitude = h.yarn_attn_factor;
  if (h.yarn_ext_factor != 0) table.magnitude *= 1 + 0.1f * std::log(1 / h.rope_scale);

  float ramp[2];  // pairs below ramp[0] are extrapolated, those above ramp[1] interpolated
  ggml_rope_yarn_corr_dims(h.rope_dims, h.rope_original_context, h.rope_base, h.yarn_beta_fast, h.yarn_beta_slow, ramp);
  const double step = std::pow(h.rope_base, -2.0f / h.rope_dims);  // in f32, as ggml does
  for (int pair = 0; pair < h.rope_dims / 2; ++pair) {
    const double original = std::pow(step, pair) / (factors ? factors[pair] : 1);
    const double above = (pair - ramp[0]) / std::max(0.001f, ramp[1] - ramp[0]);
    const double extrapolated = h.yarn_ext_factor * (1 - std::clamp(above, 0.0, 1.0));
    const double scale = h.rope_scale * (1 - extrapolated) + extrapolated;
    table.frequencies.push_back(static_cast<float>(original * scale));
  }
  return table;
}

RopeTable rope_table(const Weights& weights) {
  const ggml_tensor* factors = weights.layers().front().rope_factors;
  return rope_table(weights.hparams(), factors ? static_cast<const float*>(factors->data) : nullptr);
}

}  // namespace vase::model
