#include "engine/evicting_attention.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/mass_arguments.h"
#include "engine/run_arguments.h"

namespace vase {
namespace {

// Heads per thread from which sharing out whole heads leaves little idle time.
constexpr int kEnoughUnitsPerThread = 8;

// Floats that one unit needs for a run of so many tokens, at full capacity. Units start on their own cache lines.
size_t floats_for(const CacheShape& shape, const AttentionSetup& setup, int tokens) {
  const HeadRoom room =
      shape.two_parts() ? HeadRoom{shape.capacity - shape.recent, shape.recent} : HeadRoom{0, shape.capacity};
  const int most = std::min(tokens, room.recent);
  const size_t floats = kernels::slot_attention_scratch({.head_dim = shape.head_dim,
                                                         .group = setup.eviction.group,
                                                         .tokens = most,
                                                         .slots_before = room.recent - most,
                                                         .older = {.slots = room.older},
                                                         .mass = largest_mass(shape.needs, room.recent)});
  return (floats + 15) / 16 * 16;
}

Share share(const AttentionSetup& setup) { return setup.eviction.policy->share; }

// Heads that evict alike, and threads that evict.
int shared_heads(const CacheShape& shape, const AttentionSetup& setup) {
  switch (share(setup)) {
    case Share::kHead: return 1;
    case Share::kLayer: return shape.kv_heads;
    case Share::kModel: return shape.layers;
  }
  return 1;
}

int evicting_threads(const AttentionSetup& setup) { return share(setup) == Share::kHead ? setup.threads : 1; }

// Units that are worked on at once: one for each thread, or all of a step whose slots are shared out.
int shared_out_units(const CacheShape& shape, const AttentionSetup& setup) {
  return std::min(shape.sequences * shape.kv_heads, kEnoughUnitsPerThread * setup.threads);
}

}  // namespace

EvictingAttention::Thread::Thread(const CacheShape& shape, const AttentionSetup& setup)
    : eviction(shape, setup.eviction, setup.max_candidates, shared_heads(shape, setup)) {}

EvictingAttention::UnitFloats EvictingAttention::UnitFloats::of(const CacheShape& shape, const AttentionSetup& setup) {
  const size_t token = floats_for(shape, setup, 1), run = std::max(token, floats_for(shape, setup, setup.max_run));
  return {run, token, std::max(setup.threads * run, shared_out_units(shape, setup) * token)};
}

EvictingAttention::EvictingAttention(SlotCache& cache, const AttentionSetup& setup)
    : cache_(cache),
      setup_(setup),
      floats_(UnitFloats::of(cache.shape(), setup)),
      scratch_(floats_.all * sizeof(float)),
      next_(std::make_unique<std::atomic<int>[]>(size_t(cache.shape().layers) * 3)) {
  for (int i = 0; i < evicting_threads(setup); ++i) threads_.push_back(std::make_unique<Thread>(cache.shape(), setup));
  shared_heads_.reserve(shared_heads(cache.shape(), setup));
}

size_t EvictingAttention::scratch_bytes_for(const CacheShape& shape, const AttentionSetup& setup) {
  return UnitFloats::of(shape, setup).all * sizeof(float) +
         evicting_threads(setup) *
             EvictionScratch::bytes_for(shape, setup.eviction, setup.max_candidates, shared_heads(shape, setup));
}

size_t EvictingAttention::scratch_bytes() const {
  size_t bytes = scratch_.size();
  for (const auto& thread : threads_) bytes += thread->eviction.bytes();
  return bytes;
}

void EvictingAttention::begin_step(std::span<const Span> spans) {
  spans_ = spans;
  decode_only_ = std::ranges::all_of(spans, [](const Span& s) { return s.tokens == 1; });
  for (int i = 0; i < cache_.shape().layers * 3; ++i) next_[i].store(0, std::memory_order_relaxed);
}

void EvictingAttention::attend(const model::LayerInputs& in) noexcept {
  if (split_by_slots(in.nth)) {
    run_split(in);
    return;
  }
  const int units = static_cast<int>(spans_.size()) * cache_.shape().kv_heads;
  std::atomic<int>& next = next_[in.layer * 3];
  for (int i = next.fetch_add(1); i < units; i = next.fetch_add(1)) run_unit(in, unit(i));
}

EvictingAttention::Unit EvictingAttention::unit(int index) const {
  return {&spans_[index / cache_.shape().kv_heads], index % cache_.shape().kv_heads};
}

bool EvictingAttention::split_by_slots(int threads) const {
  const int units = static_cast<int>(spans_.size()) * cache_.shape().kv_heads;
  return threads > 1 && decode_only_ && units % threads != 0 && units < kEnoughUnitsPerThread * threads;
}

std::span<float> EvictingAttention::scratch(int index, size_t floats) const {
  return {reinterpret_cast<float*>(scratch_.data()) + index * floats, floats};
}

kernels::SlotAttentionArgs EvictingAttention::arguments(const model::LayerInputs& in, const Unit& unit, int token,
                                                        int tokens, const Schedule::Run& run,
                                                        HeadSlots head) const {
  const CacheShape& shape = cache_.shape();
  kernels::SlotAttentionArgs args =
      run_arguments(in, shape, unit.kv_head, unit.span->first + token, tokens, head);
  if (!head.log_weight().empty()) {
    args.older.log_weight = head.log_weight().data();
    args.log_weight = head.log_weight().data() + head.recent_begin();
  }
  set_mass_arguments(shape.needs, head, run.candidates, unit.span->sequence->seen + token, args);
  return args;
}

void EvictingAttention::append(const model::LayerInputs& in, const Unit& unit, int token, int tokens, int64_t seen,
                               HeadSlots head) {
  const CacheShape& shape = cache_.shape();
  for (int t = 0; t < tokens; ++t) {
    const size_t row = (size_t(unit.span->first + token + t) * shape.kv_heads + unit.kv_head) * shape.head_dim;
    const auto position = static_cast<int32_t>(seen + t);
    head.append(position, in.k + row, in.v + row);
    if (shape.needs.queries > 0) head.push_queries(position, in.q + row * setup_.eviction.group);
  }
}

void EvictingAttention::run_unit(const model::LayerInputs& in, const Unit& unit) {
  const Sequence& sequence = *unit.span->sequence;
  HeadSlots head = cache_.head(in.layer, sequence.slot, unit.kv_head);
  for (int token = 0; token < unit.span->tokens;) {
    const int64_t seen = sequence.seen + token;
    if (head.recent_room() == 0) head.settle(setup_.stay);
    const int wanted = std::min({unit.span->tokens - token, setup_.max_run, head.recent_room()});
    const Schedule::Run run = setup_.schedule.next_run(sequence, in.layer, head.used(), seen, wanted);
    append(in, unit, token, run.tokens, seen, head);
    kernels::slot_attention(setup_.path, arguments(in, unit, token, run.tokens, run, head),
                            scratch(in.ith, floats_.run));
    token += run.tokens;
    if (run.evict && share(setup_) == Share::kHead) {
      const HeadOf one{in.layer, unit.kv_head, head};
      evict({&sequence, sequence.seen + token, run.candidates, run.next_candidates}, {&one, 1}, *threads_[in.ith]);
    }
  }
}

// Three phases: append the new row and prepare the queries; segments of all heads, in any order; fold and evict.
void EvictingAttention::run_split(const model::LayerInputs& in) {
  const int units = static_cast<int>(spans_.size()) * cache_.shape().kv_heads;
  std::atomic<int>* next = &next_[in.layer * 3];
  const auto prepared = [&](const Unit& u, HeadSlots head, int before) {
    const Sequence& sequence = *u.span->sequence;
    const Schedule::Run run = setup_.schedule.next_run(sequence, in.layer, before, sequence.seen, 1);
    return std::pair(arguments(in, u, 0, 1, run, head), run);
  };
  const auto head_of = [&](const Unit& u) { return cache_.head(in.layer, u.span->sequence->slot, u.kv_head); };

  for (int i = next[0].fetch_add(1); i < units; i = next[0].fetch_add(1)) {
    const Unit u = unit(i);
    if (head_of(u).recent_room() == 0) head_of(u).settle(setup_.stay);
    append(in, u, 0, 1, u.span->sequence->seen, head_of(u));
    slot_attention_prepare(setup_.path, prepared(u, head_of(u), head_of(u).used() - 1).first,
                           scratch(i, floats_.token));
  }
  barrier_.wait(in.nth);

  int pieces_before = 0;
  int piece = next[1].fetch_add(1);
  for (int i = 0; i < units; ++i) {
    const Unit u = unit(i);
    const kernels::SlotAttentionArgs args = prepared(u, head_of(u), head_of(u).used() - 1).first;
    for (; piece < pieces_before + args.segments(); piece = next[1].fetch_add(1)) {
      slot_attention_segment(setup_.path, args, piece - pieces_before, scratch(i, floats_.token));
    }
    pieces_before += args.segments();
  }
  barrier_.wait(in.nth);

  for (int i = next[2].fetch_add(1); i < units; i = next[2].fetch_add(1)) {
    const Unit u = unit(i);
    const auto [args, run] = prepared(u, head_of(u), head_of(u).used() - 1);
    slot_attention_finish(setup_.path, args, scratch(i, floats_.token));
    if (run.evict && share(setup_) == Share::kHead) {
      const HeadOf one{in.layer, u.kv_head, head_of(u)};
      evict({u.span->sequence, u.span->sequence->seen + 1, run.candidates, run.next_candidates}, {&one, 1},
            *threads_[in.ith]);
    }
  }
}

void EvictingAttention::evict(const EvictionEvent& event, std::span<const HeadOf> heads, Thread& thread) {
  try {
    evict_heads(setup_.eviction, event, heads, thread.eviction, setup_.log ? &thread.records : nullptr);
    for (EvictionRecord& record : thread.records) thread.log.push_back({event.sequence, std::move(record)});
  } catch (...) {  // must not cross ggml's C code
    if (!thread.error) thread.error = std::current_exception();
  }
  thread.records.clear();
}

void EvictingAttention::end_step() {
  if (share(setup_) == Share::kHead) return;
  for (const Span& span : spans_) {
    const Sequence& sequence = *span.sequence;
    const Schedule::Run run = setup_.schedule.next_run(sequence, span.tokens);
    if (run.evict) evict_shared({&sequence, sequence.seen + span.tokens, run.candidates, run.next_candidates});
  }
}

// All KV heads of each layer, or the KV heads of equal number of all layers.
void EvictingAttention::evict_shared(const EvictionEvent& event) {
  const CacheShape& shape = cache_.shape();
  const bool layerwise = share(setup_) == Share::kLayer;
  const int sets = layerwise ? shape.layers : shape.kv_heads;
  for (int set = 0; set < sets; ++set) {
    shared_heads_.clear();
    for (int i = 0; i < (layerwise ? shape.kv_heads : shape.layers); ++i) {
      const int layer = layerwise ? set : i, kv_head = layerwise ? i : set;
      shared_heads_.push_back({layer, kv_head, cache_.head(layer, event.sequence->slot, kv_head)});
    }
    evict(event, shared_heads_, *threads_[0]);
  }
}

void EvictingAttention::rethrow_error() {
  std::exception_ptr first;
  for (const auto& thread : threads_) {
    const std::exception_ptr error = std::exchange(thread->error, nullptr);
    if (!first) first = error;
  }
  if (first) std::rethrow_exception(first);
}

std::vector<EvictingAttention::Logged> EvictingAttention::take_log() {
  std::vector<Logged> all;
  for (const auto& thread : threads_) {
    std::ranges::move(thread->log, std::back_inserter(all));
    thread->log.clear();
  }
  std::ranges::sort(all, {}, [](const Logged& l) {
    return std::tuple(l.sequence->slot, l.record.seen, l.record.layer, l.record.kv_head);
  });
  return all;
}

uint64_t EvictingAttention::sum(uint64_t PolicyScratch::*counter) const {
  uint64_t total = 0;
  for (const auto& thread : threads_) total += thread->eviction.policy.*counter;
  return total;
}

EvictionTimes EvictingAttention::eviction_times() const {
  std::chrono::duration<double> scoring{0}, compaction{0};
  for (const auto& thread : threads_) {
    scoring += thread->eviction.scoring_time;
    compaction += thread->eviction.compaction_time;
  }
  const auto threads = static_cast<double>(threads_.size());
  return {scoring.count() / threads, compaction.count() / threads};
}

}  // namespace vase
