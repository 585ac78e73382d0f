// The attention of every layer for policies that keep all KV and read a part of it per step (docs/policies.md 4.16).
//
// Prompt tokens read everything, and so does every token while no more than M are held, through the same kernel calls
// as the full cache: same bits. Any later token of a head scores the head's blocks, copies the rows of those that it
// chooses, in order of position, and attends over the copy. Each token chooses for itself, so a chunk of any size gives
// the same as token by token. Nothing ever leaves the cache: slot = position.
//
// Work is shared out by (sequence, KV head); nothing crosses heads.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "base/huge_buffer.h"
#include "cache/slot_cache.h"
#include "engine/step_attention.h"
#include "kernels/slot_attention/slot_attention.h"
#include "policies/read/choose.h"
#include "vase/reader.h"

namespace vase {

struct ReadingSetup {
  const Reader* reader = nullptr;  // null: the policy reads everything
  kernels::Path path = kernels::Path::kFused;
  int budget = 0;   // M: tokens read per step and head
  ModelHeads heads;
  Rope rope;        // of the model; for readers that need it
  int threads = 1;
  int max_run = 1;  // most tokens that a run can have
};

class ReadingAttention final : public StepAttention {
 public:
  ReadingAttention(SlotCache& cache, const ReadingSetup& setup);
  // Bytes that the constructor takes for all threads' scratch, and for the summaries of all blocks.
  static size_t scratch_bytes_for(const CacheShape& shape, const ReadingSetup& setup);
  static size_t summary_bytes_for(const CacheShape& shape, const ReadingSetup& setup);
  size_t scratch_bytes() const override;
  size_t summary_bytes() const { return summaries_.size(); }

  void adopt_rows(const Sequence& sequence) override;
  void begin_step(std::span<const Span> spans) override;
  void attend(const model::LayerInputs& in) noexcept override;
  // When a reader throws, its token has read everything.
  void rethrow_error() override;
  uint64_t nonfinite_scores() const override;

 private:
  struct Thread {
    Thread(const CacheShape& shape, const ReadingSetup& setup);
    static size_t bytes_for(const CacheShape& shape, const ReadingSetup& setup);
    size_t bytes() const;

    std::vector<float> kernel, reader, scores;
    ChoiceScratch choice;
    std::vector<std::byte> keys, values;  // rows of the blocks that were chosen
    uint64_t nonfinite_scores = 0;
    std::exception_ptr error;
  };
  // One KV head of one sequence in one layer.
  struct Head {
    int layer, kv_head;
    HeadSlots slots;
    std::span<float> summaries;  // [blocks][summary floats]
  };

  Head head(int layer, const Sequence& sequence, int kv_head);
  void run_unit(const model::LayerInputs& in, const Span& span, int kv_head);
  void append(const model::LayerInputs& in, int token, Head& head, Thread& thread);
  void summarise(const Head& head, int position, Thread& thread);
  void read(kernels::SlotAttentionArgs args, const Head& head, Thread& thread);
  std::span<const uint8_t> choose(const kernels::SlotAttentionArgs& args, const Head& head, Thread& thread);
  int gather(const RowsView& from, std::span<const uint8_t> marks, int tokens, std::span<std::byte> to) const;

  SlotCache& cache_;
  ReadingSetup setup_;
  ReadChoice choice_;               // of every token; asked for once, as a reader may throw
  size_t summary_floats_, blocks_;  // of one block; of one head
  HugeBuffer summaries_;            // [layers][sequences][KV heads][blocks][summary floats]
  std::vector<std::unique_ptr<Thread>> threads_;
  std::span<const Span> spans_;
  std::unique_ptr<std::atomic<int>[]> next_;  // [layers] next unit
};

}  // namespace vase
