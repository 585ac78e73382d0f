#include "engine/schedule.h"

#include <algorithm>
#include <cassert>

#include "policies/trigger.h"

namespace vase {

// A dense prompt occupies the slots [0, P) before anything can fire.
int64_t Schedule::first_eviction(const Sequence& sequence, int layer) const {
  const int prompt = sequence.dense_prefill ? sequence.prompt_tokens : 0;
  return vase::next_eviction(trigger, prompt, budgets[layer], period);
}

int64_t Schedule::next_eviction(const Sequence& sequence, int layer, int64_t seen) const {
  const int64_t first = first_eviction(sequence, layer);
  if (seen < first) return first;
  const int64_t second = first + period - (staggered() ? leads[layer] : 0);
  return seen < second ? second : second + ((seen - second) / period + 1) * period;
}

Schedule::Run Schedule::next_run(const Sequence& sequence, int layer, int used, int64_t seen, int tokens) const {
  if (!evicts) return {tokens, false, 0, 0};
  assert(used == held(sequence, layer, seen).used);
  const int64_t end = next_eviction(sequence, layer, seen);
  const int left = static_cast<int>(end - seen), after = static_cast<int>(next_eviction(sequence, layer, end) - end);
  return {std::min(tokens, left), tokens >= left, used + left - buffer, budgets[layer] + after - buffer};
}

bool Schedule::evicts_next(const Sequence& sequence) const {
  if (!evicts) return false;
  for (int layer = 0; layer < static_cast<int>(budgets.size()); ++layer) {
    if (next_eviction(sequence, layer, sequence.seen) == sequence.seen + 1) return true;
  }
  return false;
}

Schedule::Held Schedule::held(const Sequence& sequence, int layer, int64_t seen) const {
  if (!evicts || seen < first_eviction(sequence, layer)) return {static_cast<int>(seen), 0, 0};
  const int64_t first = first_eviction(sequence, layer);
  const int64_t second = next_eviction(sequence, layer, first);
  if (seen < second) return {budgets[layer] + static_cast<int>(seen - first), 1, first};
  const int64_t since = seen - second;
  return {budgets[layer] + static_cast<int>(since % period), 2 + since / period, first};
}

// Staggered layers differ by less than one eviction, and all begin together: the first one, which nothing moves, stands
// for them.
void Schedule::advance(Sequence& sequence, int tokens) const {
  sequence.seen += tokens;
  int64_t used = 0, evictions = 0, first = 0;
  const auto layers = staggered() ? 1 : static_cast<int>(budgets.size());
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

std::vector<int> staggered_leads(int layers, int period) {
  std::vector<int> leads(layers);
  for (int layer = 0; layer < layers; ++layer) leads[layer] = static_cast<int>(int64_t(layer) * period / layers);
  return leads;
}

}  // namespace vase
