#include "model/packed_product.h"

#include <ggml.h>

#include <algorithm>

namespace vase::model {
namespace {

// Strips that a thread takes at a time: few enough that the threads end together.
constexpr int kTurnsPerThread = 8;

std::optional<kernels::WeightFormat> format_of(ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q4_0: return kernels::WeightFormat::kQ4_0;
    case GGML_TYPE_Q4_1: return kernels::WeightFormat::kQ4_1;
    case GGML_TYPE_Q8_0: return kernels::WeightFormat::kQ8_0;
    case GGML_TYPE_Q4_K: return kernels::WeightFormat::kQ4K;
    case GGML_TYPE_Q6_K: return kernels::WeightFormat::kQ6K;
    default: return std::nullopt;
  }
}

void round_share(ggml_tensor* out, int ith, int nth, void*) {
  const ggml_tensor* x = out->src[0];
  const int inputs = int(x->ne[0]), columns = int(x->ne[1]), blocks = inputs / kernels::kWeightBlock;
  kernels::round_activations(kernels::Path::kFused, static_cast<const float*>(x->data), columns, inputs,
                             blocks * ith / nth, blocks * (ith + 1) / nth, static_cast<std::byte*>(out->data));
}

void multiply_share(ggml_tensor* out, int, int nth, void* data) {
  ProductNode& node = *static_cast<ProductNode*>(data);
  const int strips = node.shape.strips(), size = std::max(1, strips / (nth * kTurnsPerThread));
  const int turns = (strips + size - 1) / size;
  const auto* bias = out->src[1] ? static_cast<const float*>(out->src[1]->data) : nullptr;
  const auto take = [&] { return node.tickets.take(node.run->number, turns); };
  for (int turn = take(); turn >= 0; turn = take()) {
    kernels::weight_product(kernels::Path::kFused, node.shape, node.packed,
                            static_cast<const std::byte*>(out->src[0]->data), int(out->ne[1]), turn * size,
                            std::min(strips, (turn + 1) * size), bias, static_cast<float*>(out->data));
  }
}

}  // namespace

int Tickets::take(uint32_t run, int count) {
  uint64_t state = state_.load(std::memory_order_relaxed), next = 0;
  do {
    next = state >> 32 == run ? state & UINT32_MAX : 0;
    if (next >= uint64_t(count)) return -1;
  } while (!state_.compare_exchange_weak(state, uint64_t(run) << 32 | (next + 1), std::memory_order_relaxed));
  return int(next);
}

std::optional<kernels::PackedShape> packable(const ggml_tensor* weight) {
  const auto format = format_of(weight->type);
  if (!format || weight->ne[0] % kernels::input_unit(*format) != 0) return std::nullopt;
  return kernels::PackedShape{*format, int(weight->ne[1]), int(weight->ne[0])};
}

ggml_tensor* rounded_columns(ggml_context* context, ggml_tensor* x) {
  const size_t bytes = kernels::activation_bytes(int(x->ne[1]), int(x->ne[0]));
  return ggml_custom_4d(context, GGML_TYPE_I8, int64_t(bytes), 1, 1, 1, &x, 1, round_share, GGML_N_TASKS_MAX, nullptr);
}

ggml_tensor* packed_product(ggml_context* context, ProductNode& node, ggml_tensor* rounded, int64_t columns,
                            ggml_tensor* bias) {
  ggml_tensor* args[] = {rounded, bias};
  return ggml_custom_4d(context, GGML_TYPE_F32, node.shape.rows, columns, 1, 1, args, bias ? 2 : 1, multiply_share,
                        GGML_N_TASKS_MAX, &node);
}

}  // namespace vase::model
