// How many bytes of weights a model file has, and a decode step reads.
#pragma once

#include <cstdint>
#include <string>

namespace vase::bench {

struct ModelBytes {
  uint64_t resident = 0;  // all tensors; of embeddings that are the head as well, two copies
  uint64_t step = 0;      // all matrices: embeddings are looked up, a few rows
};

// Throws Error(kCorrupt) when the file cannot be read.
ModelBytes model_bytes(const std::string& path);

}  // namespace vase::bench
