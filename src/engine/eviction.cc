#include "engine/eviction.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

#include "base/cosine.h"
#include "engine/close_gaps.h"
#include "vase/error.h"

namespace vase {
namespace {

template <typename T>
size_t bytes_of(const std::vector<T>& v) {
  return sizeof(T) * v.size();
}

// A policy that never evicts has no candidates and needs nothing.
int slots_of(const CacheShape& shape, int candidates) { return candidates > 0 ? shape.capacity : 0; }
int most_kept(const EvictionSetup& setup, int candidates) {
  return candidates > 0 ? std::ranges::max(setup.budgets) - setup.buffer : 0;
}

size_t work_floats(const CacheShape& shape, int slots) {
  return slots > 0 ? PolicyScratch::work_for(shape.needs, shape.group, slots, shape.head_dim) : 0;
}

size_t turned_floats(const CacheShape& shape, const EvictionSetup& setup) {
  return setup.positions == Positions::kCache ? shape.head_dim : 0;
}

// out[i] = by_slot[slots[i]]; empty when the cache does not keep it.
template <typename T, typename U>
std::span<const U> gather(std::span<T> by_slot, std::span<const uint32_t> slots, std::vector<U>& out) {
  if (by_slot.empty()) return {};
  for (size_t i = 0; i < slots.size(); ++i) out[i] = by_slot[slots[i]];
  return std::span(out).first(slots.size());
}

// Floats of a head's decoded keys, and as many of its values.
size_t decoded_floats(const CacheShape& shape, int slots) {
  return shape.two_parts() && shape.needs.rows ? size_t(slots) * padded_row(shape.head_dim) : 0;
}

// Rows in the order of `slots`: as they are stored when all are stored alike.
void set_rows(HeadSlots head, std::span<const uint32_t> slots, GatheredHead& gathered, HeadView& view) {
  const CacheShape& shape = head.shape();
  if (!shape.two_parts()) {
    view.keys = head.recent_keys();
    view.values = head.recent_values();
    view.keys.slots = view.values.slots = slots.data();
    return;
  }
  view.keys.width = view.values.width = shape.head_dim;
  if (HeadBlocks::needed(shape)) {
    gathered.blocks.show(head, slots);
    view.blocks = &gathered.blocks;
  }
  if (gathered.keys.empty()) return;
  const size_t stride = padded_row(shape.head_dim);
  head.read_keys(gathered.keys.data(), stride);
  head.read_values(gathered.values.data(), stride);
  view.keys = {gathered.keys.data(), stride * sizeof(float), RowType::kF32, shape.head_dim, slots.data()};
  view.values = {gathered.values.data(), stride * sizeof(float), RowType::kF32, shape.head_dim, slots.data()};
}

// Rows of probabilities in a window record: the newest R queries of the group, or those since the last eviction, which
// cleared it.
int window_rows(const EvictionSetup& setup, int layer, HeadSlots head) {
  const int since = head.evictions() == 0 ? head.used() : head.used() - setup.budgets[layer];
  return std::min(setup.buffer, since) * setup.group;
}

HeadView view_of(const EvictionSetup& setup, const EvictionEvent& event, const HeadOf& head, GatheredHead& gathered) {
  const PolicyNeeds needs = setup.policy->needs();
  const std::span<const uint32_t> order = head.slots.order();
  const std::span<const uint32_t> slots = order.first(event.candidates);
  for (size_t i = 0; i < slots.size(); ++i) gathered.positions[i] = head.slots.position(slots[i]);
  HeadView view{.budget = setup.budgets[head.layer],
                .buffer = setup.buffer,
                .prompt_tokens = event.sequence->prompt_tokens,
                .group = setup.group,
                .layer = head.layer,
                .kv_head = head.kv_head,
                .seen = event.seen,
                .positions = std::span(gathered.positions).first(slots.size()),
                .attention = gather(head.slots.attention(), slots, gathered.attention),
                .last_use = gather(head.slots.last_use(), slots, gathered.last_use),
                .longest_gap = gather(head.slots.longest_gap(), slots, gathered.longest_gap),
                .value_range = gather(head.slots.value_range(), slots, gathered.value_range),
                .norm_product = gather(head.slots.norm_product(), slots, gathered.norm_product),
                .log_weight = gather(head.slots.log_weight(), slots, gathered.log_weight),
                .queries = head.slots.queries(event.seen)};
  set_rows(head.slots, order, gathered, view);
  if (is_window(needs.attention)) view.attention_rows = window_rows(setup, head.layer, head.slots);
  if (needs.rope) view.rope = setup.rope;
  return view;
}

PhiloxDraws draws_of(const Sequence& sequence, const HeadOf& head) {
  return PhiloxDraws({.seed = sequence.evict_seed,
                      .sequence = sequence.stream,
                      .layer = static_cast<uint32_t>(head.layer),
                      .head = static_cast<uint32_t>(head.kv_head),
                      .eviction = static_cast<uint32_t>(head.slots.evictions())});
}

void check_log_weights(std::span<const float> weights, std::span<const uint32_t> kept) {
  for (const uint32_t c : kept) {
    if (std::isfinite(weights[c])) continue;
    throw Error(ErrorCode::kUsage, "the policy gave candidate " + std::to_string(c) +
                                       " a log-weight that is NaN or infinite; it must be a number");
  }
}

// Of what the head still holds, the buffer left out.
std::optional<double> value_similarity(const EvictionSetup& setup, const HeadOf& head) {
  const size_t width = head.slots.shape().head_dim;
  const std::span<const uint32_t> kept = head.slots.order().first(setup.keep(head.layer));
  std::vector<float> values(kept.size() * width);
  for (size_t i = 0; i < kept.size(); ++i) head.slots.read_value(kept[i], values.data() + i * width);
  return mean_abs_cosine(values, static_cast<int>(width));
}

void record_eviction(const EvictionSetup& setup, const EvictionEvent& event, const HeadOf& head,
                     std::vector<EvictionRecord>& records) {
  EvictionRecord record{.layer = head.layer,
                        .kv_head = head.kv_head,
                        .eviction = head.slots.evictions() - 1,
                        .seen = event.seen,
                        .candidates = event.candidates,
                        .buffer = setup.buffer,
                        .prompt_tokens = event.sequence->prompt_tokens,
                        .kept = {},
                        .value_similarity = value_similarity(setup, head)};
  record.kept.reserve(head.slots.used());
  for (uint32_t slot : head.slots.order()) record.kept.push_back(head.slots.position(slot));
  records.push_back(std::move(record));
}

}  // namespace

GatheredHead::GatheredHead(const CacheShape& shape, int candidates, int slots)
    : positions(candidates), keys(decoded_floats(shape, slots)), values(keys.size()), blocks(shape, slots) {
  if (is_number(shape.needs.attention)) attention.resize(candidates);
  if (shape.needs.value_range) value_range.resize(candidates);
  if (shape.needs.norm_product) norm_product.resize(candidates);
  if (shape.needs.log_weight) log_weight.resize(candidates);
  if (shape.needs.attention != AttentionRecord::kRecurrence) return;
  last_use.resize(candidates);
  longest_gap.resize(candidates);
}

// All metadata but the order, which is the order of the candidates.
size_t GatheredHead::bytes_for(const CacheShape& shape, int candidates, int slots) {
  return (shape.metadata() - sizeof(uint32_t)) * candidates + 2 * sizeof(float) * decoded_floats(shape, slots) +
         HeadBlocks::bytes_for(shape, slots);
}

size_t GatheredHead::bytes() const {
  return bytes_of(positions) + bytes_of(attention) + bytes_of(value_range) + bytes_of(norm_product) +
         bytes_of(log_weight) + bytes_of(last_use) + bytes_of(longest_gap) + bytes_of(keys) + bytes_of(values) +
         blocks.bytes();
}

EvictionScratch::EvictionScratch(const CacheShape& shape, const EvictionSetup& setup, int candidates, int heads)
    : compaction(slots_of(shape, candidates)),
      kept(most_kept(setup, candidates)),
      turn(turned_floats(shape, setup)),
      row(turned_floats(shape, setup)),
      gathered(heads, GatheredHead(shape, candidates, slots_of(shape, candidates))),
      views(heads),
      draws(heads, PhiloxDraws({})),
      draw_pointers(heads) {
  const int slots = slots_of(shape, candidates);
  policy.reserve(slots, shape.head_dim, 64, work_floats(shape, slots));
}

size_t EvictionScratch::bytes_for(const CacheShape& shape, const EvictionSetup& setup, int candidates, int heads) {
  const int slots = slots_of(shape, candidates);
  const size_t per_head =
      GatheredHead::bytes_for(shape, candidates, slots) + sizeof(HeadView) + sizeof(PhiloxDraws) + sizeof(RandomDraws*);
  return PolicyScratch::bytes_for(slots, shape.head_dim, 64, work_floats(shape, slots)) + size_t(slots) * (1 + 4) +
         sizeof(uint32_t) * most_kept(setup, candidates) + 2 * sizeof(float) * turned_floats(shape, setup) +
         per_head * heads;
}

size_t EvictionScratch::bytes() const {
  size_t bytes = policy.bytes() + bytes_of(compaction.occupied) + bytes_of(compaction.order) + bytes_of(kept) +
                 bytes_of(turn) + bytes_of(row) + bytes_of(views) + bytes_of(draws) + bytes_of(draw_pointers);
  for (const GatheredHead& head : gathered) bytes += head.bytes();
  return bytes;
}

void evict_heads(const EvictionSetup& setup, const EvictionEvent& event, std::span<const HeadOf> heads,
                 EvictionScratch& scratch, std::vector<EvictionRecord>* records) {
  const auto begin = std::chrono::steady_clock::now();
  for (size_t h = 0; h < heads.size(); ++h) {
    scratch.views[h] = view_of(setup, event, heads[h], scratch.gathered[h]);
    scratch.draws[h] = draws_of(*event.sequence, heads[h]);
    scratch.draw_pointers[h] = &scratch.draws[h];
  }
  const int layer = heads[0].layer;
  const std::span<uint32_t> kept = std::span(scratch.kept).first(setup.keep(layer));
  KeepPlan plan{.kept = kept, .candidates = event.candidates, .next_candidates = event.next_candidates};
  std::exception_ptr error;
  try {
    setup.policy->plan_shared(std::span(scratch.views).first(heads.size()),
                              std::span(scratch.draw_pointers).first(heads.size()), scratch.policy, kept);
    if (heads.size() == 1 && !heads[0].slots.log_weight().empty()) {  // heads that share cannot have different weights
      plan.log_weight = std::span(scratch.policy.log_weight).first(event.candidates);
      check_log_weights(plan.log_weight, plan.kept);
    }
  } catch (...) {  // a part of the caller's own; the cache must stay sound all the same: keep the newest
    error = std::current_exception();
    plan.log_weight = {};
    std::iota(kept.begin(), kept.end(), static_cast<uint32_t>(event.candidates - setup.keep(layer)));
  }
  const auto chosen = std::chrono::steady_clock::now();
  for (const HeadOf& head : heads) {
    HeadSlots slots = head.slots;
    if (setup.positions == Positions::kCache) close_gaps(setup.rope, plan, slots, scratch.turn, scratch.row);
    slots.apply(plan, scratch.compaction);
    if (records && !error) record_eviction(setup, event, head, *records);
  }
  scratch.scoring_time += chosen - begin;
  scratch.compaction_time += std::chrono::steady_clock::now() - chosen;
  if (error) std::rethrow_exception(error);
}

}  // namespace vase
