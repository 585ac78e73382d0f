#include "model/graph.h"

#include <ggml.h>

#include <cstring>

namespace vase::model {
namespace {

// Runs on every thread of the pool.
void attend(ggml_tensor* out, int ith, int nth, void* data) {
  const AttentionNode& node = *static_cast<const AttentionNode*>(data);
  const Step& step = *node.step;
  const auto rows = [](const ggml_tensor* tensor) { return static_cast<const float*>(tensor->data); };
  const size_t used = size_t(step.tokens) * size_t(out->ne[0]);
  auto* result = static_cast<float*>(out->data);
  // Padding rows must hold numbers, though nobody looks at them.
  if (ith == 0) std::memset(result + used, 0, ggml_nbytes(out) - used * sizeof(float));
  step.attention->attend({.layer = node.layer,
                          .tokens = step.tokens,
                          .q = rows(out->src[0]),
                          .k = rows(out->src[1]),
                          .v = rows(out->src[2]),
                          .out = result,
                          .ith = ith,
                          .nth = nth});
}

class Builder {
 public:
  Builder(ggml_context* context, const Weights& weights, int rows, int output_rows,
          StepNodes& nodes)
      : context_(context),
        weights_(weights),
        h_(weights.hparams()),
        rows_(rows),
        output_rows_(output_rows),
        nodes_(nodes) {}

  StepGraph build() {
    out_.graph = ggml_new_graph_custom(context_, graph_nodes(h_.layers), false);
    out_.tokens = input(rows_);
    out_.positions = input(rows_);
    if (output_rows_ > 0) out_.outputs = input(output_rows_);

    ggml_tensor* stream = ggml_get_rows(context_, weights_.token_embedding(), out_.tokens);
    for (int i = 0; i < h_.layers; ++i) {
      const LayerWeights& layer = weights_.layers()[size_t(i)];
      LayerNodes& nodes = nodes_.layers[size_t(i)];
      ggml_tensor* attention = attention_of(layer, nodes, norm(stream, layer.attn_norm));
      if (i + 1 == h_.layers) {
        if (output_rows_ == 0) {
          ggml_build_forward_expand(out_.graph, attention);
          return out_;
        }
        attention = ggml_get_rows(context_, attention, out_.outputs);
        stream = ggml_get_rows(context_, stream, out_.outputs);
      }
      stream = ggml_add(context_, linear(layer.wo, nodes.wo, layer.bo, attention), stream);
      stream = ggml_add(context_, feed_forward(layer, nodes, norm(stream, layer.ffn_norm)), stream);
    }
    out_.logits = linear(weights_.output(), nodes_.output, nullptr, norm(stream, weights_.output_norm()));
    ggml_set_output(out_.logits);
    ggml_build_forward_expand(out_.graph, out_.logits);
    return out_;
  }

 private:
  ggml_tensor* input(int size) {
    ggml_tensor* tensor = ggml_new_tensor_1d(context_, GGML_TYPE_I32, size);
    ggml_set_input(tensor);
    return tensor;
  }

  ggml_tensor* norm(ggml_tensor* x, ggml_tensor* weight) {
    return ggml_mul(context_, ggml_rms_norm(context_, x, h_.rms_epsilon), weight);
  }

  // weight [out x in] times x [columns][in], plus the bias when there is one.
  ggml_tensor* linear(const Matrix& weight, ProductNode& node, ggml_tensor* bias, ggml_tensor* x) {
    if (weight.packed) return packed_product(context_, node, rounded(x), x->ne[1], bias);
    x = ggml_product(weight.tensor, x);
    return bias ? ggml_add(context_, x, bias) : x;
  }

  // Several products share one rounding of the same columns.
  ggml_tensor* rounded(ggml_tensor* x) {
    if (x != rounded_of_) {
      rounded_ = rounded_columns(context_, x);
      rounded_of_ = x;
    }
    return rounded_;
  }

  ggml_tensor* ggml_product(ggml_tensor* weight, ggml_tensor* x) {
    if (!column_rule(weight).one_by_one) return ggml_mul_mat(context_, weight, x);
    const int64_t columns = x->ne[1];
    x = ggml_mul_mat(context_, weight, ggml_reshape_3d(context_, x, x->ne[0], 1, columns));
    return ggml_reshape_2d(context_, x, x->ne[0], columns);
  }

  // Splits into heads, normalises them (qwen3), rotates them by position.
  ggml_tensor* rotated(ggml_tensor* x, int heads, ggml_tensor* head_norm, ggml_tensor* factors) {
    x = ggml_reshape_3d(context_, x, h_.head_dim, heads, rows_);
    if (head_norm) x = norm(x, head_norm);
    const int mode = h_.rope == RopeKind::kHalves ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL;
    return ggml_rope_ext(context_, x, out_.positions, factors, h_.rope_dims, mode, h_.rope_original_context,
                         h_.rope_base, h_.rope_scale, h_.yarn_ext_factor, h_.yarn_attn_factor,
                         h_.yarn_beta_fast, h_.yarn_beta_slow);
  }

  ggml_tensor* attention_of(const LayerWeights& layer, LayerNodes& nodes, ggml_tensor* x) {
    ggml_tensor* args[] = {
        rotated(linear(layer.wq, nodes.wq, layer.bq, x), h_.query_heads, layer.q_norm, layer.rope_factors),
        rotated(linear(layer.wk, nodes.wk, layer.bk, x), h_.kv_heads, layer.k_norm, layer.rope_factors),
        linear(layer.wv, nodes.wv, layer.bv, x),
    };
    return ggml_custom_4d(context_, GGML_TYPE_F32, int64_t(h_.query_heads) * h_.head_dim, rows_, 1, 1, args,
                          3, attend, GGML_N_TASKS_MAX, &nodes.attention);
  }

  ggml_tensor* feed_forward(const LayerWeights& layer, LayerNodes& nodes, ggml_tensor* x) {
    ggml_tensor* up = linear(layer.up, nodes.up, nullptr, x);
    ggml_tensor* gate = linear(layer.gate, nodes.gate, nullptr, x);
    return linear(layer.down, nodes.down, nullptr, ggml_swiglu_split(context_, gate, up));
  }

  ggml_context* context_;
  const Weights& weights_;
  const HParams& h_;
  int rows_, output_rows_;
  StepNodes& nodes_;
  ggml_tensor *rounded_of_ = nullptr, *rounded_ = nullptr;  // the columns that were rounded last
  StepGraph out_;
};

}  // namespace

size_t graph_nodes(int layers) { return size_t(layers) * 48 + 32; }

size_t graph_context_bytes(int layers) {
  return ggml_tensor_overhead() * graph_nodes(layers) +
         ggml_graph_overhead_custom(graph_nodes(layers), false);
}

StepNodes::StepNodes(const Weights& weights, const Step* step, const Run* run) : layers(weights.layers().size()) {
  const auto point_at = [run](ProductNode& node, const Matrix& matrix) {
    node.shape = matrix.shape;
    node.packed = matrix.packed;
    node.run = run;
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerWeights& weight = weights.layers()[i];
    LayerNodes& node = layers[i];
    node.attention = {int(i), step};
    point_at(node.wq, weight.wq);
    point_at(node.wk, weight.wk);
    point_at(node.wv, weight.wv);
    point_at(node.wo, weight.wo);
    point_at(node.gate, weight.gate);
    point_at(node.up, weight.up);
    point_at(node.down, weight.down);
  }
  point_at(output, weights.output());
}

ColumnRule model_column_rule(const Weights& weights) {
  ColumnRule rule;
  const auto join = [&rule](const Matrix& matrix) {
    if (matrix.tensor) rule.join(column_rule(matrix.tensor));
  };
  join(weights.output());
  for (const LayerWeights& w : weights.layers()) {
    for (const Matrix* matrix : {&w.wq, &w.wk, &w.wv, &w.wo, &w.gate, &w.up, &w.down}) join(*matrix);
  }
  return rule;
}

StepGraph build_step_graph(ggml_context* context, const Weights& weights, int rows, int output_rows,
                           StepNodes& nodes) {
  return Builder(context, weights, rows, output_rows, nodes).build();
}

}  // namespace vase::model
