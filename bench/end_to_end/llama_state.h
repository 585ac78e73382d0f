// A state of libllama with tokens in its past that never went through the model.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <vector>

#include "vase/model.h"

struct llama_context;

namespace vase::bench {

struct LlamaStateOptions {
  int sequences = 1;                  // of the context
  int depth = 0;                      // cells, at positions 0 .. depth - 1
  ggml_type kv_type = GGML_TYPE_F16;  // of keys and values
  bool transposed_values = false;     // as contexts without flash attention store them
};

size_t synthetic_state_bytes(const ModelShape& shape, const LlamaStateOptions& options);

// For llama_state_seq_set_data(), for any sequence of the context; rows are random. Throws
// Error(kUnsupported).
std::vector<uint8_t> synthetic_state(llama_context* context, const ModelShape& shape,
                                     const LlamaStateOptions& options);

}  // namespace vase::bench
