#include "end_to_end/llama_state.h"

#include <llama.h>

#include <algorithm>
#include <random>
#include <span>

#include "vase/error.h"

namespace vase::bench {
namespace {

constexpr int64_t kPoolElements = 1 << 20;

void append_bytes(std::vector<uint8_t>& out, const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  out.insert(out.end(), p, p + bytes);
}

template <typename T>
void append_value(std::vector<uint8_t>& out, T value) {
  append_bytes(out, &value, sizeof(value));
}

std::vector<uint8_t> random_elements(ggml_type type) {
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  std::vector<float> values(kPoolElements);
  for (float& x : values) x = normal(rng);
  std::vector<uint8_t> pool(ggml_row_size(type, kPoolElements));
  ggml_quantize_chunk(type, values.data(), pool.data(), 0, 1, kPoolElements, nullptr);
  return pool;
}

// The pool, repeated.
void append_rows(std::vector<uint8_t>& out, std::span<const uint8_t> pool, size_t bytes) {
  while (bytes > 0) {
    const size_t part = std::min(bytes, pool.size());
    append_bytes(out, pool.data(), part);
    bytes -= part;
  }
}

int row_elements(const ModelShape& shape) { return shape.kv_heads * shape.head_dim; }

}  // namespace

size_t synthetic_state_bytes(const ModelShape& shape, const LlamaStateOptions& options) {
  const size_t cell = 12 + 2 * shape.layers * ggml_row_size(options.kv_type, row_elements(shape));
  return options.depth * cell + 32 * size_t(shape.layers) + 64;  // what stands before the rows takes less
}

// Stream and cell counts, position and sequence of every cell, then the rows of all layers. Transposed or
// not, the bytes of the values are as many.
std::vector<uint8_t> synthetic_state(llama_context* context, const ModelShape& shape,
                                     const LlamaStateOptions& options) {
  std::vector<uint8_t> empty(llama_state_seq_get_size(context, 0));
  llama_state_seq_get_data(context, empty.data(), empty.size(), 0);
  if (empty.size() < 8) throw Error(ErrorCode::kUnsupported, "this libllama has another state format");

  const uint32_t depth = options.depth, layers = shape.layers;
  const uint64_t row_bytes = ggml_row_size(options.kv_type, row_elements(shape));
  const std::vector<uint8_t> pool = random_elements(options.kv_type);
  std::vector<uint8_t> state(empty.begin(), empty.begin() + 8);  // magic, source sequence
  state.reserve(synthetic_state_bytes(shape, options));
  append_value<uint32_t>(state, options.sequences);  // streams; the first one here carries the cells
  append_value<uint32_t>(state, depth);
  for (uint32_t i = 0; i < depth; ++i) {
    append_value<int32_t>(state, static_cast<int32_t>(i));
    append_value<uint32_t>(state, 1);
    append_value<int32_t>(state, 0);
  }
  append_value<uint32_t>(state, options.transposed_values ? 1 : 0);
  append_value<uint32_t>(state, layers);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    append_value<int32_t>(state, options.kv_type);
    append_value<uint64_t>(state, row_bytes);
    append_rows(state, pool, depth * row_bytes);
  }
  for (uint32_t layer = 0; layer < layers; ++layer) {
    append_value<int32_t>(state, options.kv_type);
    if (options.transposed_values) {
      append_value<uint32_t>(state, static_cast<uint32_t>(ggml_type_size(options.kv_type)));
      append_value<uint32_t>(state, row_elements(shape));
    } else {
      append_value<uint64_t>(state, row_bytes);
    }
    append_rows(state, pool, depth * row_bytes);
  }
  for (int s = 1; s < options.sequences; ++s) append_value<uint32_t>(state, 0);
  return state;
}

}  // namespace vase::bench
