#include "engine/reading_attention.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/run_arguments.h"

namespace vase {
namespace {

size_t blocks_for(const CacheShape& shape, const ReadingSetup& setup) {
  return (shape.capacity + setup.reader->block() - 1) / setup.reader->block();
}

// Most tokens that one step can choose.
size_t largest_choice(const CacheShape& shape, const ReadingSetup& setup) {
  const ReadChoice choice = setup.reader->choice(setup.budget);
  if (choice.threshold) return shape.capacity;
  const size_t blocks =
      std::max(choice.blocks, 0) + (choice.last_among_them && choice.blocks > 0 ? 0 : 1);  // never none
  return std::min<size_t>(shape.capacity, blocks * setup.reader->block());
}

size_t kernel_floats(const CacheShape& shape, const ReadingSetup& setup) {
  const auto floats = [&](int tokens) {
    return kernels::slot_attention_scratch({.head_dim = shape.head_dim,
                                            .group = shape.group,
                                            .tokens = tokens,
                                            .slots_before = shape.capacity - tokens});
  };
  return std::max(floats(1), floats(setup.max_run));
}

}  // namespace

ReadingAttention::Thread::Thread(const CacheShape& shape, const ReadingSetup& setup)
    : kernel(kernel_floats(shape, setup)),
      reader(setup.reader->scratch_floats(setup.heads, shape.capacity)),
      scores(blocks_for(shape, setup)),
      choice(static_cast<int>(scores.size())),
      keys(largest_choice(shape, setup) * shape.key_row()),
      values(largest_choice(shape, setup) * shape.value_row()) {}

size_t ReadingAttention::Thread::bytes_for(const CacheShape& shape, const ReadingSetup& setup) {
  const size_t blocks = blocks_for(shape, setup);
  return sizeof(float) *
             (kernel_floats(shape, setup) + setup.reader->scratch_floats(setup.heads, shape.capacity) + blocks) +
         ChoiceScratch::bytes_for(static_cast<int>(blocks)) +
         largest_choice(shape, setup) * (shape.key_row() + shape.value_row());
}

size_t ReadingAttention::Thread::bytes() const {
  return sizeof(float) * (kernel.size() + reader.size() + scores.size()) + choice.bytes() + keys.size() + values.size();
}

ReadingAttention::ReadingAttention(SlotCache& cache, const ReadingSetup& setup)
    : cache_(cache),
      setup_(setup),
      choice_(setup.reader->choice(setup.budget)),
      summary_floats_(setup.reader->summary_floats(setup.heads)),
      blocks_(blocks_for(cache.shape(), setup)),
      summaries_(summary_bytes_for(cache.shape(), setup)),
      next_(std::make_unique<std::atomic<int>[]>(cache.shape().layers)) {
  for (int i = 0; i < setup.threads; ++i) threads_.push_back(std::make_unique<Thread>(cache.shape(), setup));
}

size_t ReadingAttention::scratch_bytes_for(const CacheShape& shape, const ReadingSetup& setup) {
  return setup.threads * Thread::bytes_for(shape, setup);
}

size_t ReadingAttention::summary_bytes_for(const CacheShape& shape, const ReadingSetup& setup) {
  return shape.heads() * blocks_for(shape, setup) * setup.reader->summary_floats(setup.heads) * sizeof(float);
}

size_t ReadingAttention::scratch_bytes() const {
  size_t bytes = 0;
  for (const auto& thread : threads_) bytes += thread->bytes();
  return bytes;
}

ReadingAttention::Head ReadingAttention::head(int layer, const Sequence& sequence, int kv_head) {
  const CacheShape& shape = cache_.shape();
  const size_t index = (size_t(layer) * shape.sequences + sequence.slot) * shape.kv_heads + kv_head;
  const size_t floats = blocks_ * summary_floats_;
  return {layer, kv_head, cache_.head(layer, sequence.slot, kv_head),
          {reinterpret_cast<float*>(summaries_.data()) + index * floats, floats}};
}

void ReadingAttention::adopt_rows(const Sequence& sequence) {
  for (int layer = 0; layer < cache_.shape().layers; ++layer) {
    for (int h = 0; h < cache_.shape().kv_heads; ++h) {
      const Head one = head(layer, sequence, h);
      for (int position = 0; position < one.slots.used(); ++position) summarise(one, position, *threads_[0]);
    }
  }
}

void ReadingAttention::begin_step(std::span<const Span> spans) {
  spans_ = spans;
  for (int layer = 0; layer < cache_.shape().layers; ++layer) next_[layer].store(0, std::memory_order_relaxed);
}

void ReadingAttention::attend(const model::LayerInputs& in) noexcept {
  const int kv_heads = cache_.shape().kv_heads;
  const int units = static_cast<int>(spans_.size()) * kv_heads;
  std::atomic<int>& next = next_[in.layer];
  for (int i = next.fetch_add(1); i < units; i = next.fetch_add(1)) run_unit(in, spans_[i / kv_heads], i % kv_heads);
}

void ReadingAttention::run_unit(const model::LayerInputs& in, const Span& span, int kv_head) {
  const CacheShape& shape = cache_.shape();
  const Sequence& sequence = *span.sequence;
  Thread& thread = *threads_[in.ith];
  Head one = head(in.layer, sequence, kv_head);
  // Positions below it read everything.
  const int64_t dense = in.layer < setup_.reader->dense_layers() ? INT64_MAX
                                                                  : std::max(sequence.prompt_tokens, setup_.budget);
  for (int token = 0; token < span.tokens;) {
    const int64_t left = dense - (sequence.seen + token);
    const bool all = left > 0;
    const int tokens = all ? static_cast<int>(std::min<int64_t>({left, span.tokens - token, setup_.max_run})) : 1;
    for (int t = 0; t < tokens; ++t) append(in, span.first + token + t, one, thread);
    const kernels::SlotAttentionArgs args =
        run_arguments(in, shape, kv_head, span.first + token, tokens, one.slots);
    if (all) {
      kernels::slot_attention(setup_.path, args, thread.kernel);
    } else {
      read(args, one, thread);
    }
    token += tokens;
  }
}

void ReadingAttention::append(const model::LayerInputs& in, int token, Head& head, Thread& thread) {
  const CacheShape& shape = cache_.shape();
  const size_t row = (size_t(token) * shape.kv_heads + head.kv_head) * shape.head_dim;
  const int position = head.slots.used();
  head.slots.append(position, in.k + row, in.v + row);
  summarise(head, position, thread);
}

// The token at a position has joined its block.
void ReadingAttention::summarise(const Head& head, int position, Thread& thread) {
  if (summary_floats_ == 0) return;
  const int number = position / setup_.reader->block(), first = number * setup_.reader->block();
  BlockView block{.layer = head.layer,
                  .kv_head = head.kv_head,
                  .first = first,
                  .count = position - first + 1,
                  .keys = head.slots.recent_keys(),
                  .rope = setup_.rope,
                  .scratch = thread.reader};
  block.keys.base = block.keys.row(first);
  try {
    setup_.reader->update(block, head.summaries.subspan(number * summary_floats_, summary_floats_));
  } catch (...) {  // must not cross ggml's C code
    if (!thread.error) thread.error = std::current_exception();
  }
}

// One token: the group together, or head by head.
void ReadingAttention::read(kernels::SlotAttentionArgs args, const Head& head, Thread& thread) {
  const int parts = setup_.reader->per_query_head() ? args.group : 1;
  const int tokens = args.slots();
  const RowsView keys = args.k, values = args.v;
  args.group /= parts;
  for (int part = 0; part < parts; ++part, args.q += args.q_head_stride, args.out += args.out_head_stride) {
    args.k = keys;
    args.v = values;
    args.slots_before = tokens - 1;
    const std::span<const uint8_t> marks = choose(args, head, thread);
    if (std::ranges::find(marks, uint8_t{0}) != marks.end()) {
      args.slots_before = gather(keys, marks, tokens, thread.keys) - 1;
      gather(values, marks, tokens, thread.values);
      args.k.base = thread.keys.data();
      args.v.base = thread.values.data();
    }
    kernels::slot_attention(setup_.path, args, thread.kernel);
  }
}

// Empty when the reader failed: everything is read then.
std::span<const uint8_t> ReadingAttention::choose(const kernels::SlotAttentionArgs& args, const Head& head,
                                                  Thread& thread) {
  const int tokens = args.slots(), block = setup_.reader->block();
  const int blocks = (tokens + block - 1) / block;
  const std::span<float> scores = std::span(thread.scores).first(blocks);
  try {
    setup_.reader->score({.layer = head.layer,
                          .kv_head = head.kv_head,
                          .group = args.group,
                          .tokens = tokens,
                          .blocks = blocks,
                          .queries = args.q,
                          .keys = args.k,
                          .summaries = head.summaries.first(blocks * summary_floats_),
                          .rope = setup_.rope,
                          .scratch = thread.reader},
                         scores);
  } catch (...) {  // must not cross ggml's C code
    if (!thread.error) thread.error = std::current_exception();
    return {};
  }
  thread.nonfinite_scores += std::ranges::count_if(scores, [](float score) { return !std::isfinite(score); });
  return choose_blocks(choice_, scores, thread.choice);
}

// Copies the rows of the marked blocks, in ascending position; returns how many.
int ReadingAttention::gather(const RowsView& from, std::span<const uint8_t> marks, int tokens,
                             std::span<std::byte> to) const {
  const int block = setup_.reader->block();
  int rows = 0;
  for (size_t b = 0; b < marks.size(); ++b) {
    if (!marks[b]) continue;
    const int first = static_cast<int>(b) * block, count = std::min(block, tokens - first);
    std::memcpy(to.data() + rows * from.stride, from.row(first), count * from.stride);
    rows += count;
  }
  return rows;
}

void ReadingAttention::rethrow_error() {
  std::exception_ptr first;
  for (const auto& thread : threads_) {
    const std::exception_ptr error = std::exchange(thread->error, nullptr);
    if (!first) first = error;
  }
  if (first) std::rethrow_exception(first);
}

uint64_t ReadingAttention::nonfinite_scores() const {
  uint64_t sum = 0;
  for (const auto& thread : threads_) sum += thread->nonfinite_scores;
  return sum;
}

}  // namespace vase
