// A policy applied to arrays, without a model: what `vase select` and the bindings offer, and what one's own code can
// be checked against. One KV head of one sequence at one eviction; words and letters are those of docs/layouts.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vase/export.h"
#include "vase/policy.h"

namespace vase {

// Arrays are dense and row-major, f32, without NaN or infinity. Nothing is copied for longer than the call.
struct SelectInput {
  int head_dim = 0;                    // d, channels of a key, value or query
  std::span<const float> keys;         // [n][d] rotated at their positions: the candidates, then the R newest tokens
  std::span<const float> values;       // [n][d]
  // [n] absolute positions, each once; empty = 0 .. n-1. The R newest come last, ascending. So do the candidates before
  // them, except for a policy with Order::kScore: there they may stand in any order.
  std::span<const int32_t> positions;

  // [W][G][d] rotated; query w is that of the token at position seen - W + w, where seen = newest position + 1. Needed
  // by policies that look at attention or queries. Window attention takes the newest R of them, or W if there are
  // fewer.
  std::span<const float> queries;
  int group = 1;                       // G, query heads that share this KV head

  int budget = 0;                      // M, tokens kept, the buffer included; at most n
  int buffer = 64;                     // R, newest tokens that always stay
  int prompt_tokens = 0;               // P, positions below it belong to the prompt
  std::span<const float> log_weight;   // [n] or empty = zeros: is added to the logits of each row
  Rope rope;                           // for policies that turn keys back; see rope_frequencies()

  // Which head this is: keys of the random draws, and what parts that were made for one model look up.
  int layer = 0, kv_head = 0;
  int layers = 0, kv_heads = 0;        // of the whole model; 0 = layer + 1, kv_head + 1
  uint64_t seed = 0;                   // of the draws
  uint32_t stream = 0;                 // number of the sequence
  uint32_t eviction = 0;               // evictions before this one
};

struct Selection {
  std::vector<uint32_t> kept;  // [M] indices of rows: K candidates, then the R newest. Ascending, or in gather order
                               // with Order::kScore
  std::vector<float> scores;         // [C] of the candidates, C = n - R
  std::vector<uint32_t> protected_;  // indices of the candidates that rules have claimed, in claiming order
  std::vector<float> log_weight;     // [M] what each kept row is to carry; empty unless the policy needs log-weights
};

// Throws Error(kUsage), naming the array and the index, for a shape that does not fit or a number that is not finite;
// for a policy that never evicts, needs what is not given, or cannot work with this budget.
VASE_API Selection select_slots(const Policy& policy, const SelectInput& input);

// The same for heads that share what they keep, as those of a layer do with Share::kLayer: one selection for all of
// them, with the mean of their scores. They must have equal sizes and positions.
VASE_API Selection select_shared_slots(const Policy& policy, std::span<const SelectInput> heads);

// Frequencies of plain RoPE, [head_dim / 2]: base^(-2 f / head_dim) for channel pair f.
VASE_API std::vector<float> rope_frequencies(double base, int head_dim);

}  // namespace vase
