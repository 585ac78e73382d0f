// How many bytes the weights of a model file take in memory, and a decode step reads.
#pragma once

#include <cstdint>
#include <string>

#include "model/weights.h"

namespace vase::bench {

struct ModelBytes {
  uint64_t resident = 0;  // all tensors; of embeddings that are the head as well, two copies
  uint64_t step = 0;      // all matrices: embeddings are looked up, a few rows
};

// As laid out by Weights::load(); what ggml lays out is taken to keep its size. Throws Error(kCorrupt) when the file
// cannot be read.
ModelBytes model_bytes(const std::string& path, model::WeightLayout layout);

}  // namespace vase::bench
