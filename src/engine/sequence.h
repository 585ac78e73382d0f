// What the engine knows about one sequence in the cache, between steps.
#pragma once

#include <cstdint>

namespace vase {

struct Sequence {
  int slot = 0;               // which of the cache's sequences
  uint64_t evict_seed = 0;
  uint32_t stream = 0;
  int prompt_tokens = 0;      // P
  bool dense_prefill = false;
  int64_t seen = 0;           // tokens so far: position of the next token
  // As Counters has them: of the first layer when layers are staggered, else means over the layers.
  int used = 0;
  int64_t evictions = 0;
  int64_t first_eviction = 0;
};

// A run of new tokens of one sequence in the current step.
struct Span {
  const Sequence* sequence = nullptr;
  int first = 0;   // index of its first token in the batch
  int tokens = 0;
};

}  // namespace vase
