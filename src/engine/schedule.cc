#include "engine/schedule.h"

#include <algorithm>

#include "policies/trigger.h"

namespace vase {

int Schedule::period_end(const Sequence& sequence, int layer, int used, int64_t seen) const {
  if (!evicts) return kNever;
  // A dense prompt occupies the slots [0, P) before anything can fire.
  const bool in_dense_prompt = sequence.dense_prefill && seen < sequence.prompt_tokens;
  return next_eviction(trigger, in_dense_prompt ? sequence.prompt_tokens : used, budgets[layer], period);
}

Schedule::Run Schedule::next_run(const Sequence& sequence, int layer, int used, int64_t seen, int tokens) const {
  const int end = period_end(sequence, layer, used, seen);
  if (end == kNever) return {tokens, false, 0};
  int limit = tokens;
  if (sequence.dense_prefill && seen < sequence.prompt_tokens) {
    limit = static_cast<int>(std::min<int64_t>(limit, sequence.prompt_tokens - seen));
  }
  const int run = std::min(limit, end - used);
  return {run, used + run == end, end - buffer};
}

Schedule::Held Schedule::held(const Sequence& sequence, int layer, int64_t seen) const {
  const int prompt = sequence.dense_prefill ? sequence.prompt_tokens : 0;
  const int first = evicts ? next_eviction(trigger, prompt, budgets[layer], period) : kNever;
  if (seen < first) return {static_cast<int>(seen), 0, 0};
  const int64_t since = seen - first;
  return {budgets[layer] + static_cast<int>(since % period), 1 + since / period, first};
}

void Schedule::advance(Sequence& sequence, int tokens) const {
  sequence.seen += tokens;
  int64_t used = 0, evictions = 0, first = 0;
  const auto layers = static_cast<int>(budgets.size());
  for (int layer = 0; layer < layers; ++layer) {
    const Held one = held(sequence, layer, sequence.seen);
    used += one.used;
    evictions += one.evictions;
    if (one.evictions > 0) first = first > 0 ? std::min(first, one.first_eviction) : one.first_eviction;
  }
  sequence.used = static_cast<int>(used / layers);
  sequence.evictions = (evictions + layers - 1) / layers;
  sequence.first_eviction = first;
}

}  // namespace vase
