// Chooses the next token from logits. Order of the filters: repetition penalty, temperature, top-k, top-p, min-p, draw
// (the order of the paper's protocol). The draw is counter-based: same seed and position, same token.
// Memory: 12 bytes x vocabulary; with a repetition penalty 4 bytes x (vocabulary + window) more.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vase/options.h"

namespace vase {

// Throws Error(kNonFinite) when a logit is NaN or +infinity, or all are -infinity. position: index of the token that they
// are for.
void require_numbers(std::span<const float> logits, uint64_t position);

class Sampler {
 public:
  // Throws Error(kUsage) for values out of range: temperature 0 or 0.001 .. 100, top_k >= 0, top_p in (0, 1],
  // min_p 0 .. 1, repetition penalty 0.01 .. 100, repetition window 0 .. 1,048,576.
  Sampler(const SamplingOptions& options, int vocabulary);
  ~Sampler();

  // Tokens that the repetition penalty looks back on (prompt and generated).
  void accept(int32_t token);
  // position: index of the token to be sampled. Throws as require_numbers().
  int32_t sample(std::span<const float> logits, uint64_t position);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase
