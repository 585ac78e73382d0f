#include "engine/session.h"

#include <algorithm>

#include "vase/error.h"

namespace vase {
namespace {

constexpr int kReservedTokens = 1 << 20;  // 4 MiB of address space, filled as the text grows

}  // namespace

std::string_view finish_name(Finish finish) {
  switch (finish) {
    case Finish::kRunning: return "running";
    case Finish::kEndOfText: return "eos";
    case Finish::kStopString: return "stop";
    case Finish::kMaxTokens: return "length";
    case Finish::kContextFull: return "context";
    case Finish::kCancelled: return "cancelled";
    case Finish::kNonFinite: return "nonfinite";
    case Finish::kRepetition: return "repetition";
  }
  return "unknown";
}

SessionState::SessionState(std::vector<int32_t> prompt, const SessionOptions& options, int vocabulary)
    : prompt_(std::move(prompt)),
      options_(options),
      sampler_(options.sampling, vocabulary),
      loops_(options.stop_loops),
      stream_(options.stops) {
  if (options.max_tokens < 1) {
    throw Error(ErrorCode::kUsage, "max tokens is " + std::to_string(options.max_tokens) + "; at least 1 is needed");
  }
  sequence.evict_seed = options.evict_seed;
  sequence.stream = options.stream;
  sequence.prompt_tokens = prompt_tokens();
  generated_.reserve(std::min(options.max_tokens, kReservedTokens));
  for (int32_t token : prompt_) sampler_.accept(token);
}

Counters SessionState::counters() const {
  return {.tokens_seen = sequence.seen,
          .slots_used = sequence.used,
          .evicted = sequence.seen - sequence.used,
          .evictions = sequence.evictions,
          .first_eviction = sequence.first_eviction};
}

std::span<const int32_t> SessionState::pending(int most) const {
  if (!reading_prompt()) return std::span(generated_).last(1);
  const size_t left = prompt_.size() - sequence.seen;
  return std::span(prompt_).subspan(sequence.seen, std::min<size_t>(left, most));
}

std::string SessionState::accept(std::span<const float> logits, const text::Tokenizer& tokenizer, int context) {
  int32_t token;
  try {
    token = sampler_.sample(logits, sequence.seen);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNonFinite) throw;
    return end(Finish::kNonFinite);
  }
  generated_.push_back(token);
  if (tokenizer.ends_generation(token) && !options_.ignore_eos) return end(Finish::kEndOfText);
  sampler_.accept(token);
  std::string text = stream_.push(tokenizer.piece(token));
  if (stream_.stopped()) return text + end(Finish::kStopString);
  if (loops_.ends_in_loop(generated_)) return text + end(Finish::kRepetition);
  if (generated_tokens() >= options_.max_tokens) return text + end(Finish::kMaxTokens);
  if (sequence.seen >= context) return text + end(Finish::kContextFull);
  return text;
}

std::string SessionState::end(Finish finish) {
  finish_ = finish;
  return stream_.finish();
}

}  // namespace vase
