// Chooses the next token from logits. Order of the filters: repetition penalty, temperature, top-k, top-p, min-p, draw
// (the order of the paper's protocol). The draw is counter-based: same seed and position, same token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vase/options.h"

namespace vase {

class Sampler {
 public:
  // Throws Error(kUsage) for values out of range.
  Sampler(const SamplingOptions& options, int vocabulary);
  ~Sampler();

  // Tokens that the repetition penalty looks back on (prompt and generated).
  void accept(int32_t token);
  // position: index of the token to be sampled. Throws Error(kNonFinite) when a logit is NaN or +infinity, or all
  // are -infinity.
  int32_t sample(std::span<const float> logits, uint64_t position);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase
