// A session's own state: what it still has to read, what it has written, and when it is over.
#pragma once

#include <atomic>
#include <vector>

#include "engine/loop_detector.h"
#include "engine/sampler.h"
#include "engine/sequence.h"
#include "text/stream.h"
#include "text/tokenizer.h"
#include "vase/engine.h"

namespace vase {

class SessionState final : public Session {
 public:
  SessionState(std::vector<int32_t> prompt, const SessionOptions& options, int vocabulary);

  Finish finish() const override { return finish_; }
  int prompt_tokens() const override { return static_cast<int>(prompt_.size()); }
  int generated_tokens() const override { return static_cast<int>(generated_.size()); }
  std::span<const int32_t> generated() const override { return generated_; }
  Counters counters() const override;
  std::span<const EvictionRecord> evictions() const override { return evictions_; }
  void cancel() override { cancelled_.store(true, std::memory_order_relaxed); }

  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  bool reading_prompt() const { return sequence.seen < prompt_tokens(); }
  // Tokens to feed next: the rest of the prompt, at most `most`, or the last sampled token.
  std::span<const int32_t> pending(int most) const;
  // Chooses the next token from the logits of the last one fed; returns the text that became safe to show.
  std::string accept(std::span<const float> logits, const text::Tokenizer& tokenizer, int context);
  // Ends the session; returns the text that was held back.
  std::string end(Finish finish);
  std::vector<EvictionRecord> take_evictions() { return std::move(evictions_); }
  void add_record(EvictionRecord record) { evictions_.push_back(std::move(record)); }

  Sequence sequence;

 private:
  std::vector<int32_t> prompt_, generated_;
  SessionOptions options_;
  Sampler sampler_;
  LoopDetector loops_;
  text::TextStream stream_;
  std::vector<EvictionRecord> evictions_;
  Finish finish_ = Finish::kRunning;
  std::atomic<bool> cancelled_{false};
};

}  // namespace vase
