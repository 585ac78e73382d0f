// When the heads of a layer evict, as a function of the tokens seen alone: every head of a layer follows the same schedule,
// and so do all layers whose budgets are equal.
#pragma once

#include <climits>
#include <vector>

#include "engine/sequence.h"
#include "vase/options.h"

namespace vase {

inline constexpr int kNever = INT_MAX;

struct Schedule {
  bool evicts = false;
  std::vector<int> budgets;    // [layers] M
  int buffer = 0;              // R
  int period = 0;              // tokens from one eviction to the next
  Trigger trigger = Trigger::kGeneral;

  // Slots used at which the running period of a layer ends, seen from `used` slots with `seen` tokens in the past. For the
  // tokens of a dense prompt this is the first eviction after the prompt, although none fires before its end.
  int period_end(const Sequence& sequence, int layer, int used, int64_t seen) const;

  // Tokens out of `tokens` that can be appended before the heads of a layer must stop to evict, and whether they evict then.
  struct Run {
    int tokens = 0;
    bool evict = false;
    int candidates = 0;  // C of the period that these tokens belong to
  };
  Run next_run(const Sequence& sequence, int layer, int used, int64_t seen, int tokens) const;

  // The next run of all layers, whose budgets must be equal.
  Run next_run(const Sequence& sequence, int tokens) const {
    return next_run(sequence, 0, sequence.used, sequence.seen, tokens);
  }

  // What a head of a layer holds when so many tokens have been seen.
  struct Held {
    int used = 0;
    int64_t evictions = 0;
    int64_t first_eviction = 0;  // tokens seen at the first eviction; 0 = not yet
  };
  Held held(const Sequence& sequence, int layer, int64_t seen) const;

  // Moves the counters over `tokens` new tokens.
  void advance(Sequence& sequence, int tokens) const;
};

}  // namespace vase
