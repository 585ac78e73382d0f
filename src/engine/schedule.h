// When the heads of a layer evict, as a function of the tokens seen alone: every head of a layer follows the same
// schedule, and so do all layers whose budgets and leads are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/sequence.h"
#include "vase/options.h"

namespace vase {

struct Schedule {
  bool evicts = false;
  std::vector<int> budgets;  // [layers] M
  int buffer = 0;            // R
  int period = 0;            // E, tokens from one eviction to the next
  Trigger trigger = Trigger::kGeneral;
  // [layers], or empty for zeros: tokens by which the second eviction of a layer, and so all that follow, comes early.
  // From 0 to E - 1, so that a period is never longer than E.
  std::vector<int> leads = {};

  bool staggered() const { return !leads.empty(); }

  // Tokens seen at the first eviction of a layer, and at the next one after `seen` tokens. Must evict.
  int64_t first_eviction(const Sequence& sequence, int layer) const;
  int64_t next_eviction(const Sequence& sequence, int layer, int64_t seen) const;

  // Tokens out of `tokens` that can be appended before the heads of a layer must stop to evict, and whether they evict
  // then. They use `used` slots, with `seen` tokens in the past.
  struct Run {
    int tokens = 0;
    bool evict = false;
    int candidates = 0;       // C of the period that these tokens belong to
    int next_candidates = 0;  // C of the period behind it
  };
  Run next_run(const Sequence& sequence, int layer, int used, int64_t seen, int tokens) const;

  // The next run of all layers, which must evict together.
  Run next_run(const Sequence& sequence, int tokens) const {
    return next_run(sequence, 0, sequence.used, sequence.seen, tokens);
  }

  // Whether any layer evicts with the next token.
  bool evicts_next(const Sequence& sequence) const;

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

// Leads that spread the evictions of the layers evenly over a period; the first layer has none.
std::vector<int> staggered_leads(int layers, int period);

}  // namespace vase
