// Products with weights in our own layout (kernels/weight_product), as nodes of the compute graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "kernels/weight_product/weight_product.h"

struct ggml_context;
struct ggml_tensor;

namespace vase::model {

// The shape of a weight for which there is a kernel of our own, else nothing.
std::optional<kernels::PackedShape> packable(const ggml_tensor* weight);

// What runs at the moment.
struct Run {
  uint32_t number = 0;  // counts up
};

// Numbers 0 .. count - 1 of a run, each handed to one of its threads: who is free takes the next, since a machine that
// others use too runs threads at different speeds.
class Tickets {
 public:
  // The next number of the run, or -1.
  int take(uint32_t run, int count);

 private:
  std::atomic<uint64_t> state_{0};  // run, next number
};

struct ProductNode {
  kernels::PackedShape shape;
  const std::byte* packed = nullptr;
  const Run* run = nullptr;
  Tickets tickets;
};

// The columns of x [columns][inputs], rounded for any number of products.
ggml_tensor* rounded_columns(ggml_context* context, ggml_tensor* x);

// The product of the node's matrix with rounded columns, plus the bias [rows] when there is one. The node must outlive
// the graph.
ggml_tensor* packed_product(ggml_context* context, ProductNode& node, ggml_tensor* rounded, int64_t columns,
                            ggml_tensor* bias);

}  // namespace vase::model
