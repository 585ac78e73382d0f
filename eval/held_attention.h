// How much of the full cache's attention falls on the tokens that a policy still holds, and how many tokens these are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vase/engine.h"

namespace vase::eval {

// What one layer asks and is asked over one text, with nothing evicted.
struct TextAttention {
  int query_heads = 0, kv_heads = 0, head_dim = 0, tokens = 0;
  std::vector<float> queries;  // [tokens][query_heads][head_dim], rotated
  std::vector<float> keys;     // [kv_heads][head_dim][tokens], rotated

  // Sized and 0.
  static TextAttention sized(int query_heads, int kv_heads, int head_dim, int tokens);
  static uint64_t bytes_for(int query_heads, int kv_heads, int head_dim, int tokens);
  // Takes rows of some tokens, queries [tokens][query_heads][head_dim] and keys [tokens][kv_heads][head_dim], the first
  // of them at `position`.
  void put(int position, std::span<const float> some_queries, std::span<const float> some_keys);
};

// Means over positions and KV heads; attention is that of a KV head's queries, softmax of q.k / sqrt(d) over all tokens
// seen. 0 when nothing was counted.
struct HeldShare {
  double attention = 0;  // on the tokens that are held
  double best = 0;       // on as many tokens, had those been chosen that this very position attends to most
  double tokens = 0;     // held tokens / tokens seen
};

// One row per policy and budget ("cell"), over texts.
class HeldStudy {
 public:
  HeldStudy(int layers, size_t cells);

  // One layer over one text; calls for different layers may run at once. evictions[cell] are those of this text, of all
  // layers and heads, in any order. Positions count from the first eviction of any cell on, so that all cells are about
  // the same ones. Throws Error(kCorrupt) for an eviction that kept a position outside of the text.
  void add(int layer, const TextAttention& text, std::span<const std::vector<EvictionRecord>> evictions);

  int layers() const { return layers_; }
  HeldShare layer(size_t cell, int layer) const;
  HeldShare all(size_t cell) const;  // mean over layers

 private:
  struct Sums {
    HeldShare share;
    double count = 0;  // (position, KV head) pairs
  };
  int layers_;
  std::vector<Sums> sums_;  // [cell][layer]
};

}  // namespace vase::eval
