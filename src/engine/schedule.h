// When a sequence evicts, as a function of its counters alone: every head of every layer follows the same schedule.
#pragma once

#include <climits>

#include "engine/sequence.h"
#include "vase/options.h"

namespace vase {

inline constexpr int kNever = INT_MAX;

struct Schedule {
  bool evicts = false;
  int budget = 0, buffer = 0;  // M, R
  int period = 0;              // tokens from one eviction to the next
  Trigger trigger = Trigger::kGeneral;

  // Slots used at which the running period ends, seen from `used` slots with `seen` tokens in the past. For the tokens
  // of a dense prompt this is the first eviction after the prompt, although none fires before its end.
  int period_end(const Sequence& sequence, int used, int64_t seen) const;

  // Tokens out of `tokens` that can be appended before the head must stop to evict, and whether it evicts then.
  struct Run {
    int tokens = 0;
    bool evict = false;
    int candidates = 0;  // C of the period that these tokens belong to
  };
  Run next_run(const Sequence& sequence, int used, int64_t seen, int tokens) const;

  // Tokens out of `tokens` that a step may feed when an eviction has to fall on its end.
  int step_tokens(const Sequence& sequence, int tokens) const {
    return next_run(sequence, sequence.used, sequence.seen, tokens).tokens;
  }

  // Moves the counters over `tokens` new tokens.
  void advance(Sequence& sequence, int tokens) const;
};

}  // namespace vase
