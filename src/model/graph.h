// The compute graph of one step: one builder for all families, with flags from the hyper-parameters.
#pragma once

#include "model/columns.h"
#include "model/forward.h"

struct ggml_cgraph;
struct ggml_context;
struct ggml_tensor;

namespace vase::model {

// What the attention operation of every layer needs to know about the step that runs.
struct Step {
  LayerAttention* attention = nullptr;
  int tokens = 0;  // without padding
};
struct AttentionNode {
  int layer = 0;
  const Step* step = nullptr;
};

// What the operations that are not ggml's look at while they run.
struct LayerNodes {
  AttentionNode attention;
  ProductNode wq, wk, wv, wo, gate, up, down;
};
struct StepNodes {
  StepNodes(const Weights& weights, const Step* step, const Run* run);

  std::vector<LayerNodes> layers;
  ProductNode output;
};

struct StepGraph {
  ggml_cgraph* graph = nullptr;
  ggml_tensor* tokens = nullptr;     // i32 [rows]
  ggml_tensor* positions = nullptr;  // i32 [rows]
  ggml_tensor* outputs = nullptr;    // i32 [output_rows]; null when there are none
  ggml_tensor* logits = nullptr;     // f32 [output_rows][vocabulary]; null when there are none
};

// Nodes that a graph of so many layers may have, and the bytes of the context that holds it.
size_t graph_nodes(int layers);
size_t graph_context_bytes(int layers);

// Padding that every product of the model needs.
ColumnRule model_column_rule(const Weights& weights);

// Builds the graph for `rows` tokens and `output_rows` rows of logits in `context`. `nodes` must outlive the graph.
// Without outputs it ends after the last layer's attention: nothing else has an effect.
StepGraph build_step_graph(ggml_context* context, const Weights& weights, int rows, int output_rows,
                           StepNodes& nodes);

}  // namespace vase::model
