#include "model/forward.h"

#include <ggml-alloc.h>
#include <ggml-cpp.h>
#include <ggml-cpu.h>

#include <algorithm>
#include <vector>

#include "base/huge_buffer.h"
#include "ggml_log/quiet_ggml.h"
#include "model/graph.h"
#include "vase/error.h"

namespace vase::model {
namespace {

constexpr int kMostTokens = 1 << 16;

struct FreeThreadpool {
  void operator()(ggml_threadpool* pool) const { ggml_threadpool_free(pool); }
};

void check_range(const char* what, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::kUsage, std::string(what) + " is " + std::to_string(value) +
                                     "; allowed: " + std::to_string(low) + " to " + std::to_string(high));
}

// `values` at the front of a tensor of ids, the last one repeated to its end.
void fill(ggml_tensor* tensor, std::span<const int32_t> values) {
  auto* data = static_cast<int32_t*>(tensor->data);
  std::copy(values.begin(), values.end(), data);
  std::fill(data + values.size(), data + tensor->ne[0], values.back());
}

}  // namespace

struct Forward::Impl {
  Impl(std::shared_ptr<const Weights> model, const ForwardOptions& wanted)
      : weights(std::move(model)),
        options(wanted),
        rule(model_column_rule(*weights)),
        nodes(*weights, &step, &current) {
    check_range("the number of threads", options.threads, 1, GGML_MAX_N_THREADS);
    check_range("the largest batch", options.max_tokens, 1, kMostTokens);
    check_range("the largest number of outputs", options.max_outputs, 0, options.max_tokens);
    ggml_threadpool_params params = ggml_threadpool_params_default(options.threads);
    pool.reset(ggml_threadpool_new(&params));

    const int layers = weights->hparams().layers;
    arena = HugeBuffer(graph_context_bytes(layers));
    reserve();
  }

  // Sizes every buffer for the largest step and touches its pages.
  void reserve() {
    const QuietGgml quiet;
    allocator.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
    build(options.max_tokens, options.max_outputs);
    ggml_backend_buffer_clear(graph.tokens->buffer, 0);
  }

  void build(int tokens, int outputs) {
    built_tokens = built_outputs = -1;
    context.reset();  // before its memory is used again
    context.reset(ggml_init({arena.size(), arena.data(), true}));
    graph = build_step_graph(context.get(), *weights, rule.padded(tokens),
                             outputs > 0 ? rule.padded(outputs) : 0, nodes);
    if (!ggml_gallocr_alloc_graph(allocator.get(), graph.graph)) {
      throw Error(ErrorCode::kResource, "not enough memory to compute a batch of " + std::to_string(tokens) +
                                            " tokens; use a smaller batch");
    }
    plan = ggml_graph_plan(graph.graph, options.threads, pool.get());
    if (plan.work_size > work.size()) work = HugeBuffer(plan.work_size);
    built_tokens = tokens;  // last: a step that could not be built whole is built again
    built_outputs = outputs;
  }

  void prepare(int tokens, int outputs) {
    if (tokens == built_tokens && outputs == built_outputs) return;
    const QuietGgml quiet;
    build(tokens, outputs);
  }

  void check(const Batch& batch) const {
    check_range("the number of tokens", int(batch.tokens.size()), 1, options.max_tokens);
    check_range("the number of positions", int(batch.positions.size()), int(batch.tokens.size()),
                int(batch.tokens.size()));
    check_range("the number of outputs", int(batch.outputs.size()), 0,
                std::min(options.max_outputs, int(batch.tokens.size())));
    for (const int32_t token : batch.tokens)
      check_range("a token", token, 0, weights->hparams().vocabulary - 1);
    for (const int32_t at : batch.positions) check_range("a position", at, 0, INT32_MAX);
    int32_t next = 0;
    for (const int32_t output : batch.outputs) {
      check_range("an output", output, next, int(batch.tokens.size()) - 1);
      next = output + 1;
    }
  }

  std::span<const float> run(const Batch& batch, LayerAttention& attention) {
    check(batch);
    prepare(int(batch.tokens.size()), int(batch.outputs.size()));
    fill(graph.tokens, batch.tokens);
    fill(graph.positions, batch.positions);
    if (graph.outputs) fill(graph.outputs, batch.outputs);

    step = {&attention, int(batch.tokens.size())};
    ++current.number;
    plan.work_data = reinterpret_cast<uint8_t*>(work.data());
    if (ggml_graph_compute(graph.graph, &plan) != GGML_STATUS_SUCCESS) {
      throw Error(ErrorCode::kResource, "ggml could not compute the step");
    }
    if (graph.logits == nullptr) return {};
    return {static_cast<const float*>(graph.logits->data),
            batch.outputs.size() * size_t(weights->hparams().vocabulary)};
  }

  std::shared_ptr<const Weights> weights;
  ForwardOptions options;
  ColumnRule rule;
  std::unique_ptr<ggml_threadpool, FreeThreadpool> pool;
  ggml_gallocr_ptr allocator;
  HugeBuffer arena, work;
  ggml_context_ptr context;
  StepGraph graph;
  ggml_cplan plan{};
  int built_tokens = -1, built_outputs = -1;
  Step step;
  Run current;
  StepNodes nodes;
};

Forward::Forward(std::shared_ptr<const Weights> weights, const ForwardOptions& options)
    : impl_(std::make_unique<Impl>(std::move(weights), options)) {}
Forward::~Forward() = default;

std::span<const float> Forward::run(const Batch& batch, LayerAttention& attention) {
  return impl_->run(batch, attention);
}

uint64_t Forward::compute_bytes() const {
  return ggml_gallocr_get_buffer_size(impl_->allocator.get(), 0) + impl_->arena.size() + impl_->work.size();
}

}  // namespace vase::model
