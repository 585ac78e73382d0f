// Everything a caller can set, with defaults and units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vase/policy.h"
#include "vase/rows.h"

namespace vase {

// How prompts enter the cache.
enum class Prefill : uint8_t {
  kEvicting,  // evicts as it goes, so a prompt of any length never lifts the memory (default)
  kDense,     // stores the whole prompt first, as the paper does: capacity grows to the longest prompt + R
};

// Which implementation computes attention over slots.
enum class AttentionPath : uint8_t { kFused, kReference };

// What position a kept key counts as.
enum class Positions : uint8_t {
  kText,   // its position in the text, for ever (default)
  kCache,  // keys move up as tokens before them go, so that positions have no gaps (StreamingLLM, arXiv 2309.17453)
};

// How the budget is shared out among the layers (docs/policies.md 4.12.1). Heads of a layer always have the same.
enum class LayerBudgets : uint8_t {
  kUniform,  // M in every layer (default)
  kPyramid,  // falls linearly from the first layer to the last; the mean is M (PyramidKV, arXiv 2406.02069)
};

// KV memory and what is kept in it. Behaviour.
struct CacheOptions {
  int budget = 1024;             // M: slots per layer and KV head right after an eviction, buffer included (tokens).
                                 // With a policy that reads: tokens read per step and head
  double budget_mib = 0;         // > 0: solve M from this many MiB for all sequences together, everything included
  int buffer = 64;               // R: newest tokens that always stay (tokens)
  int period = 0;                // tokens from one eviction to the next; 0 = R. A head holds up to M + period slots
  RowType key_type = RowType::kF16;
  RowType value_type = RowType::kF16;
  bool auto_types = false;       // budget_mib decides on both types as well as on M, and must be set: the most precise
                                 // of f16; q8_0; q8_0 keys with q4_0 values; q4_0, with which the longest text fits
                                 // without an eviction, else the types with which most of it does. MemoryPlan tells
                                 // what came out
  int expected_tokens = 0;       // with auto_types: the longest text that will come (tokens); 0 = context
  Prefill prefill = Prefill::kEvicting;
  int max_prompt = 0;            // with kDense: longest prompt (tokens); ignored otherwise
  Trigger trigger = Trigger::kGeneral;
  Positions positions = Positions::kText;
  LayerBudgets layer_budgets = LayerBudgets::kUniform;  // kPyramid: only with kEvicting, kGeneral and share=head
  float pyramid_beta = 20;       // of kPyramid: the last layer keeps (M - R) / beta beside its buffer; 1 to 1000,
                                 // 1 = uniform
  bool stagger = true;           // from the second eviction of a sequence on, layers evict at different steps, spread
                                 // evenly over the period, so that no step stalls; false = all in the same step. Only
                                 // with kGeneral, kUniform, share=head and a period of at least R; elsewhere it
                                 // changes nothing
  int context = 0;               // positions a sequence may reach, at most 16,777,216; 0 = 1,048,576. Costs no memory,
                                 // except with policies that never evict: there it is the capacity, and
                                 // 0 = trained context.
};

// Performance and diagnosis. Only `path` can change a result, in the last bits of attention.
struct EngineOptions {
  int sequences = 1;             // sessions that can run at the same time
  int threads = 0;               // 0 = number of physical cores; at most 256
  int chunk = 256;               // most prompt tokens per step, all sessions together (tokens)
  int logit_rows = 1;            // most logit rows per step of Engine::force(); more is faster, each costs
                                 // 4 B x vocabulary
  AttentionPath path = AttentionPath::kFused;
  bool poison_free_rows = false; // fills every free row with NaN (tests: free rows must never be read)
  bool log_evictions = false;    // keeps an EvictionRecord of every eviction: 4 B x M x layers x KV heads each time
};

struct SamplingOptions {
  float temperature = 0.6f;      // 0 = greedy
  int top_k = 0;                 // 0 = off
  float top_p = 0.95f;           // 1 = off
  float min_p = 0;               // 0 = off
  float repetition_penalty = 1;  // 1 = off
  int repetition_window = 64;    // newest tokens that the penalty looks at; 0 = none
  uint64_t seed = 0;             // of the text
};

struct SessionOptions {
  SamplingOptions sampling;
  uint64_t evict_seed = 0;       // of the evictions; apart from the text seed so that each can be varied alone
  uint32_t stream = 0;           // tells the evictions of sessions with equal evict_seed apart; the text has its seed
  int max_tokens = 4096;         // generated tokens
  std::vector<std::string> stops;
  bool ignore_eos = false;
  int stop_loops = 0;            // ends a text that goes round in an exact loop: a block of at most 2048 tokens comes
                                 // so many times in a row, and more often until that is 512 tokens; 3 to 1000. 0 = off
};

}  // namespace vase
