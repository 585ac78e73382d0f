// One forward pass of a batch of tokens through the transformer. One graph builder serves all families.
// Attention is a callback, so the model knows nothing about caches or policies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/weights.h"

namespace vase::model {

// Called once per layer by every thread of the pool (ith of nth), after RoPE. Must not throw.
struct LayerInputs {
  int layer = 0;
  int tokens = 0;
  const float* q = nullptr;  // [tokens][query_heads][head_dim], dense
  const float* k = nullptr;  // [tokens][kv_heads][head_dim], dense
  const float* v = nullptr;  // [tokens][kv_heads][head_dim], dense
  float* out = nullptr;      // [tokens][query_heads][head_dim], dense
  int ith = 0, nth = 1;
};

class LayerAttention {
 public:
  virtual ~LayerAttention() = default;
  virtual void attend(const LayerInputs& in) noexcept = 0;
};

// Tokens of one step. positions[i] is the absolute position that token i is rotated by (tokens seen, never
// slots).
struct Batch {
  std::span<const int32_t> tokens;  // ids in [0, vocabulary)
  std::span<const int32_t> positions;
  std::span<const int32_t>
      outputs;  // indices into the batch whose logits are wanted, ascending; may be empty
};

struct ForwardOptions {
  int threads = 1;
  int max_tokens = 64;   // largest batch
  int max_outputs = 64;  // largest number of logit rows
};

// Owns the compute buffer (reserved for its worst case at construction, every page touched) and the thread
// pool. Not thread-safe: one step at a time.
class Forward {
 public:
  Forward(std::shared_ptr<const Weights> weights, const ForwardOptions& options);
  ~Forward();

  // Runs one step; returns logits [outputs.size()][vocabulary], valid until the next call. Keeps no memory
  // beyond what the constructor took. Throws Error(kUsage) when the batch does not fit the options or the
  // vocabulary.
  std::span<const float> run(const Batch& batch, LayerAttention& attention);
  uint64_t compute_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::model
