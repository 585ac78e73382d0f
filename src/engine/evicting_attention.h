// The attention of every layer: appends the new rows of each sequence, attends over the slots used, and evicts a head
// at once when its period ends, while its rows are warm.
//
// A run of tokens is cut exactly where a head must evict, so a chunk of any length gives the same cache as token by
// token, and `used` never passes M + period of its layer (with dense prefill: the longest prompt + period, until the
// first eviction). Heads that share what they keep evict together when the step is over.
//
// Work is shared out by (sequence, KV head); heads never wait for one another. Only when there are too few heads for
// the threads, single-token runs are also split by slots, with barriers inside the layer. Neither changes a bit of the
// result: the kernel's segments are fixed.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "base/huge_buffer.h"
#include "cache/slot_cache.h"
#include "engine/eviction.h"
#include "engine/schedule.h"
#include "engine/sequence.h"
#include "engine/step_attention.h"
#include "engine/thread_barrier.h"
#include "kernels/slot_attention/slot_attention.h"

namespace vase {

struct AttentionSetup {
  kernels::Path path = kernels::Path::kFused;
  Schedule schedule;
  EvictionSetup eviction;
  int threads = 1;
  int max_run = 1;         // most tokens that a run can have
  int max_candidates = 0;  // most candidates that an eviction can see
  int stay = 0;            // R: recent tokens that stay when the others are quantised
  bool log = false;
};

class EvictingAttention final : public StepAttention {
 public:
  EvictingAttention(SlotCache& cache, const AttentionSetup& setup);
  // Bytes of scratch that the constructor takes, and bytes that are taken now.
  static size_t scratch_bytes_for(const CacheShape& shape, const AttentionSetup& setup);
  size_t scratch_bytes() const override;

  // With heads that share what they keep, a span has at most as many tokens as Schedule::next_run() says.
  void begin_step(std::span<const Span> spans) override;
  void attend(const model::LayerInputs& in) noexcept override;
  // The evictions of heads that share what they keep.
  void end_step() override;

  std::vector<Logged> take_log() override;
  // An eviction whose policy threw has kept the newest candidates.
  void rethrow_error() override;
  uint64_t nonfinite_scores() const override { return sum(&PolicyScratch::nonfinite_scores); }
  uint64_t protection_truncated() const override { return sum(&PolicyScratch::protection_truncated); }
  uint64_t weightless_draws() const override { return sum(&PolicyScratch::weightless_draws); }
  EvictionTimes eviction_times() const override;

 private:
  uint64_t sum(uint64_t PolicyScratch::*counter) const;  // over all threads

  // The work on one (span, KV head).
  struct Unit {
    const Span* span;
    int kv_head;
  };
  // Floats of scratch that a unit needs for a run, which one thread works on, and for one token whose slots are shared
  // out, when there are as many units at work as the step has; and floats that are enough for either.
  struct UnitFloats {
    size_t run, token, all;
    static UnitFloats of(const CacheShape& shape, const AttentionSetup& setup);
  };
  struct Thread {
    Thread(const CacheShape& shape, const AttentionSetup& setup);
    EvictionScratch eviction;
    std::vector<Logged> log;
    std::vector<EvictionRecord> records;
    std::exception_ptr error;
  };

  Unit unit(int index) const;
  bool split_by_slots(int threads) const;
  std::span<float> scratch(int index, size_t floats) const;
  kernels::SlotAttentionArgs arguments(const model::LayerInputs& in, const Unit& unit, int token, int tokens,
                                       const Schedule::Run& run, HeadSlots head) const;
  void append(const model::LayerInputs& in, const Unit& unit, int token, int tokens, int64_t seen, HeadSlots head);
  void run_unit(const model::LayerInputs& in, const Unit& unit);
  void run_split(const model::LayerInputs& in);
  void evict(const EvictionEvent& event, std::span<const HeadOf> heads, Thread& thread);
  void evict_shared(const EvictionEvent& event);

  SlotCache& cache_;
  AttentionSetup setup_;
  UnitFloats floats_;
  HugeBuffer scratch_;
  std::vector<std::unique_ptr<Thread>> threads_;  // those that evict
  std::vector<HeadOf> shared_heads_;              // those that evict together
  std::span<const Span> spans_;
  bool decode_only_ = false;
  std::unique_ptr<std::atomic<int>[]> next_;  // [layers][3] next unit or piece, for each phase
  ThreadBarrier barrier_;
};

}  // namespace vase
