// What the engine's tests share: session options without end of text, and what sessions have said.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/resident.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"

namespace vase::test {

inline const char* const kPolicies[] = {"vase-attnv", "vase-dkv", "curdkv", "snapkv", "random", "random-prompt"};

inline std::vector<int32_t> bytes(std::string_view text) { return {text.begin(), text.end()}; }

inline SessionOptions options(int max_tokens, uint64_t seed = 1, uint64_t evict_seed = 2) {
  SessionOptions o;
  o.max_tokens = max_tokens;
  o.sampling.seed = seed;
  o.sampling.temperature = 1;
  o.evict_seed = evict_seed;
  o.ignore_eos = true;
  return o;
}

// Everything a session said, by session.
class Listener {
 public:
  Engine::OnText callback() {
    return [this](Session& s, std::string_view text) { texts_[&s] += text; };
  }
  std::string text(const std::shared_ptr<Session>& s) { return texts_[s.get()]; }

 private:
  std::map<const Session*, std::string> texts_;
};

inline void run_all(Engine& engine, Listener& listener) {
  while (engine.step(listener.callback()) > 0) {
  }
}

inline std::vector<int32_t> tokens_of(const Session& s) { return {s.generated().begin(), s.generated().end()}; }

inline std::vector<std::vector<int32_t>> kept_of(const Session& s) {
  std::vector<std::vector<int32_t>> all;
  for (const EvictionRecord& r : s.evictions()) all.push_back(r.kept);
  return all;
}

// KiB by which resident memory grows from the 500th to the last of `tokens` generated tokens.
inline long growth_kib(Engine& engine, std::vector<int32_t> prompt, int tokens) {
  const auto session = engine.submit(std::move(prompt), options(tokens));
  long early = 0;
  while (engine.step({}) > 0) {
    if (session->generated_tokens() == 500) early = resident_kib();
  }
  EXPECT_EQ(session->generated_tokens(), tokens);
  return resident_kib() - early;
}

}  // namespace vase::test
