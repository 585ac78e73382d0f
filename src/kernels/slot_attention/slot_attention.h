// Attention of the query heads of one group over the slots of one KV head of one sequence.
//
// The T tokens of a run sit in the last T slots used: token t (0 .. T-1) sees slots [0, slots_before + t + 1).
// T = 1 is decode. Slots are dense, in no particular order; attention does not care about order.
//
// Older tokens may lie in slots of their own, whose rows may be of other types (OlderSlots): every token sees all of them.
//
// Two paths take the same arguments; their results differ by rounding alone.
//
// `reference`: plain C++, double throughout; only what it stores to out and mass is f32.
//
// `fused`: Highway, every SIMD target of the machine. Rows are read as stored, everything after is f32 with f32
// accumulation. Slots are processed in fixed segments of kSegment slots: a segment's maximum, sum and weighted values
// are complete before it is folded into the running result, always in ascending order. So the result does not depend
// on how segments are shared out over threads: slot_attention() of one token equals slot_attention_prepare(), every
// slot_attention_segment() in any order and slot_attention_finish(), bit for bit; and a run of T tokens equals T
// calls of one token each. Bits may differ between SIMD targets. Segments of the older slots come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/key_offset/key_offset.h"
#include "kernels/path.h"
#include "kernels/strips/strips.h"
#include "vase/rows.h"

namespace vase::kernels {

inline constexpr int kSegment = 256;

// What the mass of a slot is, out of the probabilities p[token][head] over the candidates.
enum class MassForm : uint8_t {
  kSum,         // += sum over tokens and group of p
  kSquares,     // += sum over tokens and group of p^2
  kMax,         // = max of itself and every p
  kRecurrence,  // token by token: when the largest p of the group reaches `threshold`, the gap since last_use becomes
                // longest_gap if it is longer, and last_use becomes the token's position
};

// Optional output: attention mass over the candidates (docs/policies.md 3.1), out of the same logits as attention,
// log-weights included. It is updated token by token in ascending order.
struct MassArgs {
  MassForm form = MassForm::kSum;
  float* sum = nullptr;    // [candidates], by slot; updated, never cleared. Null: no mass
  int candidates = 0;      // C: slots [0, C) and all older ones share one unit of mass per (token, head), whatever lies
                           // behind them; with C = slots() a token's own probabilities count
  int first_token = 0;     // tokens t >= first_token contribute
  float temperature = 1;   // probabilities from logits / temperature
  // kRecurrence, instead of sum; null: no mass
  int32_t* last_use = nullptr;     // [candidates]
  int32_t* longest_gap = nullptr;  // [candidates]
  float threshold = 0;
  int32_t position = 0;            // of the run's token 0; token t has position + t

  bool wanted() const { return form == MassForm::kRecurrence ? last_use != nullptr : sum != nullptr; }
};

// Keys or values: rows with a stride between them, or strips.
struct PartRows {
  RowsView rows;
  Strips strips;  // in use when it has a base

  bool in_strips() const { return strips.base != nullptr; }
};

// Slots beside those of the run, all of which every token sees; they are candidates of the mass.
struct OlderSlots {
  int slots = 0;                      // dense, from 0
  PartRows k, v;                    // of head_dim channels
  const float* log_weight = nullptr;  // [slots], as that of the run's
  const KeyOffset* key_offset = nullptr;  // what keys in strips are stored without; null: nothing
  const int32_t* positions = nullptr;     // [slots], with a key offset
  // Records of these slots, as those of MassArgs; used when it has the like.
  float* sum = nullptr;
  int32_t *last_use = nullptr, *longest_gap = nullptr;
};

struct SlotAttentionArgs {
  int head_dim = 0;             // d >= 1, any; with older slots in strips a multiple of 32, at most 1024
  int group = 1;                // G query heads, >= 1, any
  int tokens = 1;               // T
  int slots_before = 0;         // slots used before the run's first token; slots used in all: slots_before + T
  float scale = 1;              // usually 1/sqrt(d)
  const float* q = nullptr;     // q[t * q_token_stride + g * q_head_stride + i], i < d contiguous
  ptrdiff_t q_token_stride = 0, q_head_stride = 0;      // in floats
  RowsView k, v;                // base, stride, type (K and V each their own); `slots` must be null (rows are
                                // addressed by slot)
  const float* log_weight = nullptr;  // [slots] added to each slot's logit; null = 0 everywhere
  OlderSlots older;
  float* out = nullptr;         // same addressing as q
  ptrdiff_t out_token_stride = 0, out_head_stride = 0;  // in floats
  MassArgs mass;

  int slots() const { return slots_before + tokens; }  // without the older ones
  int older_segments() const { return (older.slots + kSegment - 1) / kSegment; }
  int segments() const { return older_segments() + (slots() + kSegment - 1) / kSegment; }
};

// Floats of scratch that one head needs for a run, on either path: probabilities, per-segment partials, padded
// queries. Grows with the group, with the slots and with the tokens of a run; the pointers in args are not followed.
// Every function below takes at least this much (a debug build asserts it, any other trusts it), of any content and
// any alignment that a float may have.
size_t slot_attention_scratch(const SlotAttentionArgs& args);

// Whole run: out and mass. `scratch`: see slot_attention_scratch(). A row without visible slots, or whose logits are all -inf, gives zeros.
void slot_attention(Path path, const SlotAttentionArgs& args, std::span<float> scratch);

// Decode (tokens == 1) in pieces, so that threads can share one head by slots. `scratch` is the same memory for all
// pieces of a head, slot_attention_scratch() of the same args. prepare once before any segment; segment i for every i
// in [0, args.segments()), any order, any thread; then finish once: folds in ascending order, writes out and mass. The
// reference does all its work in finish.
void slot_attention_prepare(Path path, const SlotAttentionArgs& args, std::span<float> scratch);
void slot_attention_segment(Path path, const SlotAttentionArgs& args, int segment, std::span<float> scratch);
void slot_attention_finish(Path path, const SlotAttentionArgs& args, std::span<float> scratch);

}  // namespace vase::kernels
