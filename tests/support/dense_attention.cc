#include "support/dense_attention.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>

namespace vase::test {
namespace {

// Eight sums side by side, so that the compiler may use vectors.
double dot(const float* a, const float* b, size_t size) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += double(a[i + lane]) * b[i + lane];
  }
  for (; i < size; ++i) sums[0] += double(a[i]) * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

DenseAttention::DenseAttention(const model::HParams& hparams, bool f16_rows)
    : hparams_(hparams), f16_rows_(f16_rows), heads_(size_t(hparams.layers) * size_t(hparams.kv_heads)) {}

void DenseAttention::append(Head& head, const float* key, const float* value) {
  const auto stored = [this](float x) { return f16_rows_ ? ggml_fp16_to_fp32(ggml_fp32_to_fp16(x)) : x; };
  for (int c = 0; c < hparams_.head_dim; ++c) head.keys.push_back(stored(key[c]));
  for (int c = 0; c < hparams_.head_dim; ++c) head.values.push_back(stored(value[c]));
}

void DenseAttention::attend_one(const Head& head, const float* query, float* out) const {
  const size_t d = size_t(hparams_.head_dim), rows = head.keys.size() / d;
  std::vector<double> weights(rows), sum(d, 0.0);
  double top = -INFINITY, total = 0;
  for (size_t i = 0; i < rows; ++i) {
    weights[i] = dot(query, head.keys.data() + i * d, d) / std::sqrt(double(d));
    top = std::max(top, weights[i]);
  }
  for (size_t i = 0; i < rows; ++i) {
    weights[i] = std::exp(weights[i] - top);
    total += weights[i];
    for (size_t c = 0; c < d; ++c) sum[c] += weights[i] * head.values[i * d + c];
  }
  for (size_t c = 0; c < d; ++c) out[c] = float(sum[c] / total);
}

void DenseAttention::attend(const model::LayerInputs& in) noexcept {
  const int group = hparams_.group();
  const size_t d = size_t(hparams_.head_dim);
  for (int h = in.ith; h < hparams_.kv_heads; h += in.nth) {  // heads are independent of each other
    Head& head = heads_[size_t(in.layer) * size_t(hparams_.kv_heads) + size_t(h)];
    for (int t = 0; t < in.tokens; ++t) {
      const size_t row = (size_t(t) * size_t(hparams_.kv_heads) + size_t(h)) * d;
      append(head, in.k + row, in.v + row);
      for (int g = 0; g < group; ++g) {
        const size_t q = (size_t(t) * size_t(hparams_.query_heads) + size_t(h * group + g)) * d;
        attend_one(head, in.q + q, in.out + q);
      }
    }
  }
}

}  // namespace vase::test
