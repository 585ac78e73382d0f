#include "engine/schedule.h"

#include <algorithm>

#include "policies/trigger.h"

namespace vase {

int Schedule::period_end(const Sequence& sequence, int used, int64_t seen) const {
  if (!evicts) return kNever;
  // A dense prompt occupies the slots [0, P) before anything can fire.
  const bool in_dense_prompt = sequence.dense_prefill && seen < sequence.prompt_tokens;
  return next_eviction(trigger, in_dense_prompt ? sequence.prompt_tokens : used, budget, period);
}

Schedule::Run Schedule::next_run(const Sequence& sequence, int used, int64_t seen, int tokens) const {
  const int end = period_end(sequence, used, seen);
  if (end == kNever) return {tokens, false, 0};
  int limit = tokens;
  if (sequence.dense_prefill && seen < sequence.prompt_tokens) {
    limit = static_cast<int>(std::min<int64_t>(limit, sequence.prompt_tokens - seen));
  }
  const int run = std::min(limit, end - used);
  return {run, used + run == end, end - buffer};
}

void Schedule::advance(Sequence& sequence, int tokens) const {
  while (tokens > 0) {
    const Run run = next_run(sequence, sequence.used, sequence.seen, tokens);
    sequence.used += run.tokens;
    sequence.seen += run.tokens;
    tokens -= run.tokens;
    if (run.evict) {
      sequence.used = budget;
      if (sequence.evictions++ == 0) sequence.first_eviction = sequence.seen;
    }
  }
}

}  // namespace vase
