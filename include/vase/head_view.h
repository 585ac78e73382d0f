// One KV head of one sequence at the moment of an eviction: what a policy may look at.
//
// Words (docs/layouts.md): M budget, R buffer, n slots used at the eviction, C = n - R candidates, K = M - R kept.
// Candidates have logical indices 0 .. C-1: ascending position, or the gather order of the last eviction when the
// policy's order is Order::kScore. The buffer follows as C .. n-1, ascending. Every span that is "per candidate" has C
// elements in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vase/export.h"
#include "vase/rows.h"

namespace vase {

// What is kept per slot about the attention that it received. One policy keeps one record.
enum class AttentionRecord : uint8_t {
  kNone,
  kWindowSum,      // sum over the window's queries and the group's heads of p, normalised over the candidates
  kWindowSquares,  // the same sum of p squared
  kWindowMax,      // largest such p
  kLifetimeSum,    // sum of p, normalised over all slots used, over every query since the token was appended
  kRecurrence,     // when a head of the group last gave p >= threshold, normalised over all slots used, and the longest
                   // gap between two such tokens so far
};

// What the engine must keep for a policy. Anything not asked for costs neither memory nor time.
struct VASE_API PolicyNeeds {
  AttentionRecord attention = AttentionRecord::kNone;  // 4 B per slot, 8 B for kRecurrence
  float temperature = 1;     // of the window records: p from logits / temperature
  bool over_all = false;     // of the window records: p normalised over all slots used, not over the candidates
  float threshold = 0;       // of kRecurrence
  bool value_range = false;  // max - min of each value row, stored once when the row is appended; 4 B per slot
  bool norm_product = false;  // |k| |v| of each token, stored in the same way; 4 B per slot
  bool rows = false;         // keys or values at an eviction. Rows that are stored quantised are decoded for it:
                             // 8 B x head_dim per slot of one head, for each thread that evicts. Other rows can be
                             // looked at in any case
  bool row_blocks = false;   // the same a block at a time (HeadView::blocks), for who needs no more at once: 4 B x head_dim for
                             // RowBlocks::kMost rows and 4 B per slot of one head, for each thread that evicts
  bool log_weight = false;   // a number per slot that is added to its logits, 0 at birth; 4 B per slot
  bool rope = false;         // how keys and queries were rotated; refused where positions are those of the cache
  bool draws = false;        // random numbers. They are there in any case; who asks for none keeps the same tokens with
                             // every seed
  int queries = 0;           // the newest queries of the group, rotated: 4 B x head_dim each, per query head

  // Adds what another part of the same policy needs. Throws Error(kUsage) when the two need different records of
  // attention.
  void add(const PolicyNeeds& other);
};

// The newest queries of one group, oldest first, as attention used them (rotated at their own positions).
struct QueriesView {
  const float* base = nullptr;  // [capacity][group][width], a ring
  int capacity = 0;
  int first = 0;                // ring index of the oldest
  int count = 0;                // tokens held, <= capacity; the newest is the newest token in the cache
  int group = 1;                // G
  int width = 0;                // head_dim

  // Query of head g of the w-th held token, w = 0 is the oldest.
  std::span<const float> row(int w, int g) const {
    const size_t token = static_cast<size_t>(first + w) % capacity;
    return {base + (token * group + g) * width, static_cast<size_t>(width)};
  }
};

// How the model rotates keys and queries at position p: channel pair f turns by p * frequencies[f].
struct Rope {
  std::span<const float> frequencies;  // [pairs] radians per position; channels behind the pairs are not rotated
  bool adjacent = false;               // pair f is (2f, 2f + 1) instead of (f, f + pairs)
  float magnitude = 1;                 // factor on rotated channels (YaRN)
};

// Some rows of a head, in any order.
struct RowBlock {
  RowsView rows;                    // [count], as they lie
  std::span<const uint32_t> index;  // [count] which of the head's n rows, in logical order, each is
};

// All rows of a head that are stored quantised, decoded a block at a time.
class VASE_API RowBlocks {
 public:
  static constexpr int kMost = 32;  // rows of a block
  virtual ~RowBlocks() = default;
  virtual int count() const = 0;  // of blocks
  // block: 0 .. count() - 1. Valid until the next call of either.
  virtual RowBlock keys(int block) = 0;
  virtual RowBlock values(int block) = 0;
};

struct HeadView {
  int budget = 0;                         // M
  int buffer = 0;                         // R; the newest R slots are not among the candidates
  int prompt_tokens = 0;                  // P: positions below it belong to the prompt
  int group = 1;                          // G query heads share this KV head
  int layer = 0, kv_head = 0;
  int64_t seen = 0;                       // tokens seen: the newest token has position seen - 1
  std::span<const int32_t> positions;     // [C] absolute position of each candidate

  std::span<const float> attention;       // [C] as the record that was asked for; empty for kRecurrence
  int attention_rows = 0;                 // W * G: number of probability rows in a window record
  std::span<const int32_t> last_use;      // [C] kRecurrence: position of the token that last used it; its own at first
  std::span<const int32_t> longest_gap;   // [C] kRecurrence: 0 until it was used for the first time
  std::span<const float> value_range;     // [C]
  std::span<const float> norm_product;    // [C]
  std::span<const float> log_weight;      // [C]
  RowsView keys;                          // [n] rows of head_dim, rotated at their positions: candidates, then buffer.
                                          // Empty, but for the width, when they are stored quantised and
                                          // PolicyNeeds::rows is false
  RowsView values;                        // [n] rows of head_dim; as keys
  RowBlocks* blocks = nullptr;            // the same where keys and values are empty and PolicyNeeds::row_blocks is true
  QueriesView queries;
  Rope rope;

  int candidates() const { return static_cast<int>(positions.size()); }
  int slots() const { return candidates() + buffer; }  // n
  int keep() const { return budget - buffer; }         // K
};

}  // namespace vase
