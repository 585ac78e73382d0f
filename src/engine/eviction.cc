#include "engine/eviction.h"

#include <exception>
#include <numeric>

#include "base/philox_draws.h"

namespace vase {

EvictionScratch::EvictionScratch(int candidates, int capacity, int head_dim, int keep)
    : compaction(capacity), positions(candidates), attention(candidates), value_range(candidates), kept(keep) {
  policy.reserve(capacity, head_dim);
}

size_t EvictionScratch::bytes_for(int candidates, int capacity, int head_dim, int keep) {
  return PolicyScratch::bytes_for(capacity, head_dim) + size_t(candidates) * (4 + 4 + 4) + size_t(capacity) * (1 + 4) +
         size_t(keep) * 4;
}

size_t EvictionScratch::bytes() const {
  return policy.bytes() + 4 * (positions.size() + attention.size() + value_range.size()) +
         compaction.occupied.size() + 4 * compaction.order.size() + 4 * kept.size();
}

namespace {

std::span<const int32_t> gather_positions(HeadSlots head, int candidates, std::vector<int32_t>& out) {
  for (int i = 0; i < candidates; ++i) out[i] = head.position(head.order()[i]);
  return std::span(out).first(candidates);
}

void record_eviction(HeadSlots head, int layer, int kv_head, std::vector<EvictionRecord>& log) {
  EvictionRecord record{.layer = layer, .kv_head = kv_head, .eviction = head.evictions() - 1, .kept = {}};
  record.kept.reserve(head.used());
  for (uint32_t slot : head.order()) record.kept.push_back(head.position(slot));
  log.push_back(std::move(record));
}

}  // namespace

void evict_head(const EvictionSetup& setup, const Sequence& sequence, int layer, int kv_head, int candidates,
                HeadSlots head, EvictionScratch& scratch, std::vector<EvictionRecord>* record) {
  const std::span<const uint32_t> slots = head.order().first(candidates);
  const PolicyNeeds needs = setup.policy->needs();
  HeadView view{.budget = setup.budget,
                .buffer = setup.buffer,
                .prompt_tokens = sequence.prompt_tokens,
                .group = setup.group,
                .positions = gather_positions(head, candidates, scratch.positions),
                .keys = head.keys(),
                .values = head.values()};
  view.keys.slots = view.values.slots = slots.data();
  if (needs.attention != AttentionRecord::kNone) {
    const std::span<const float> mass = head.attention();
    for (int i = 0; i < candidates; ++i) scratch.attention[i] = mass[slots[i]];
    view.attention = std::span(scratch.attention).first(candidates);
    view.attention_rows = setup.buffer * setup.group;
  }
  if (needs.value_range) {
    for (int i = 0; i < candidates; ++i) scratch.value_range[i] = head.value_range(slots[i]);
    view.value_range = std::span(scratch.value_range).first(candidates);
  }
  PhiloxDraws draws({.seed = sequence.evict_seed,
                     .sequence = sequence.stream,
                     .layer = static_cast<uint32_t>(layer),
                     .head = static_cast<uint32_t>(kv_head),
                     .eviction = static_cast<uint32_t>(head.evictions())});
  const std::span<uint32_t> kept = std::span(scratch.kept).first(view.keep());
  std::exception_ptr error;
  try {
    setup.policy->plan(view, draws, scratch.policy, kept);
  } catch (...) {  // a part of the caller's own; the cache must stay sound all the same: keep the newest
    error = std::current_exception();
    std::iota(kept.begin(), kept.end(), static_cast<uint32_t>(candidates) - static_cast<uint32_t>(kept.size()));
  }
  head.apply(kept, candidates, scratch.compaction);
  if (error) std::rethrow_exception(error);
  if (record) record_eviction(head, layer, kv_head, *record);
}

}  // namespace vase
