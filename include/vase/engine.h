// The engine: sessions that share one model and one policy, stepped together, each in its own fixed slots.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vase/export.h"
#include "vase/memory.h"
#include "vase/model.h"
#include "vase/options.h"
#include "vase/policy.h"

namespace vase {

// Two lengths with two names everywhere: tokens seen (positions, what RoPE runs on) and slots used (what attention
// runs over).
struct Counters {
  int64_t tokens_seen = 0;   // prompt and generated tokens in the cache's past
  // Per layer and KV head. With CacheOptions::stagger those of the first layer: others are ahead of it by less than one
  // eviction and never hold more than capacity. With layers of unequal budgets the mean: slots rounded down, the other
  // two up.
  int slots_used = 0;
  int64_t evicted = 0;         // tokens dropped so far
  int64_t evictions = 0;       // times that a head has evicted
  int64_t first_eviction = 0;  // tokens seen at the first of them, in the layer where it came first; 0 = not yet
};

enum class Finish : uint8_t {
  kRunning,
  kEndOfText,
  kStopString,
  kMaxTokens,
  kContextFull,
  kCancelled,
  kNonFinite,   // the model gave NaN logits: no text is invented
  kRepetition,  // SessionOptions::stop_loops
};
// "running", "eos", "stop", "length", "context", "cancelled", "nonfinite", "repetition"
VASE_API std::string_view finish_name(Finish finish);

// Kept positions of one eviction (EngineOptions::log_evictions).
struct EvictionRecord {
  int layer = 0, kv_head = 0;
  int64_t eviction = 0;
  int64_t seen = 0;       // tokens seen: the newest has position seen - 1
  int candidates = 0;     // C, of which kept.size() - buffer were kept
  int buffer = 0;         // R, the newest tokens, which come last in `kept`
  int prompt_tokens = 0;  // P, positions below it belong to the prompt
  std::vector<int32_t> kept;  // positions, in logical order, the buffer included
  // Mean |cos| between the kept values, of at most 512 evenly spaced ones, the buffer left out: 1 = all along one
  // line. Empty for fewer than two.
  std::optional<double> value_similarity = {};
};

// What came of teacher forcing.
struct Forced {
  Counters counters;
  std::vector<EvictionRecord> evictions;  // with EngineOptions::log_evictions
};

class VASE_API Session {
 public:
  virtual ~Session() = default;
  virtual Finish finish() const = 0;
  virtual int prompt_tokens() const = 0;
  virtual int generated_tokens() const = 0;
  virtual std::span<const int32_t> generated() const = 0;
  virtual Counters counters() const = 0;
  virtual std::span<const EvictionRecord> evictions() const = 0;
  // From any thread; takes effect within one step, in prefill too.
  virtual void cancel() = 0;
};

// One thread at a time may call an engine and read its sessions; only Session::cancel() may come from any thread.
class VASE_API Engine {
 public:
  // Called from step() for every session that produced text that is safe to show (whole characters, no part of a stop
  // string) or has finished. May be empty. It may submit and cancel, but not step or force the engine. When it throws,
  // the exception leaves step(); the engine stays sound, and texts that are still due come with the next step.
  using OnText = std::function<void(Session&, std::string_view text)>;
  // Called for every sampled position, before sampling: logits [vocabulary] of the token at `position`.
  using OnLogits = std::function<void(Session&, int64_t position, std::span<const float> logits)>;

  // Allocates KV memory, scratch and compute buffers, all that its steps will ever need. A session adds its tokens and
  // a sampler (12 B x vocabulary), 8 KiB more with SessionOptions::stop_loops. Throws Error(kUsage / kResource).
  Engine(std::shared_ptr<const Model> model, Policy policy, const CacheOptions& cache, const EngineOptions& options);
  ~Engine();

  // Queues a prompt (tokens). Starts as soon as a sequence is free. Throws Error(kUsage) when it is empty, has tokens
  // outside of the vocabulary, or leaves no room below the context limit.
  std::shared_ptr<Session> submit(std::vector<int32_t> prompt, const SessionOptions& options);
  // One step for all running sessions: a chunk of prompt or one new token each. Returns how many sessions are still
  // running or queued; 0 means that there is nothing to do. Rethrows what a policy's own part has thrown; that eviction
  // then kept the newest tokens.
  int step(const OnText& on_text);
  void set_on_logits(OnLogits on_logits);

  // Teacher forcing: feeds tokens to a fresh sequence, EngineOptions::logit_rows at a time, and calls back with the
  // logits that follow each. Same mathematics as generating them. The first prompt_tokens count as the prompt. Throws
  // Error: kUsage when no sequence is free for the time of the call, kNonFinite for logits that are no numbers.
  Forced force(std::span<const int32_t> tokens, int prompt_tokens, const SessionOptions& options,
               const std::function<void(int64_t position, std::span<const float> logits)>& on_logits);

  const MemoryPlan& memory() const;
  const Policy& policy() const;
  uint64_t nonfinite_scores() const;        // scores that were NaN or infinite, over all evictions
  uint64_t protection_truncated() const;    // evictions at which protected tokens did not fit
  uint64_t weightless_draws() const;        // tokens that a weighted draw had to take without a positive weight

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase
