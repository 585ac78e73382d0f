// Where scores from stored queries or rotations keep what in PolicyScratch::work, for one call. Sizes and addresses
// come from the same place.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/query_scores/query_scores.h"
#include "vase/head_view.h"

namespace vase {

class QueryWork {
 public:
  static constexpr int kChunk = 64;  // rows of keys that are worked on at a time, where not all of them are
  static constexpr int kRows = 12;   // query heads of several tokens that pass over the keys together, if no group is
                                     // larger

  // head_dim in channels; `queries`: tokens of the query ring that the part asked for.
  QueryWork(int group, int queries, int slots, int head_dim)
      : group_(group),
        rows_(std::max(group, kRows)),
        vectors_(std::max({2 * group, queries + group, kRows})),
        row_(kernels::results_row(slots)),
        padded_(padded_row(head_dim)) {}
  // Of a part that asked for this many queries.
  QueryWork(const HeadView& head, int queries) : QueryWork(head.group, queries, head.slots(), head.keys.width) {}

  int tokens_at_once() const { return rows_ / group_; }
  size_t floats() const { return rows_ * row_ + vectors_ * padded_ + kChunk * (vectors_ + padded_); }

  size_t padded() const { return padded_; }
  // Floats from one head's logits to the next.
  size_t logits_row() const { return row_; }
  float* logits(float* work) const { return work; }                  // [at least G][logits_row()]
  float* vectors(float* work) const { return work + rows_ * row_; }  // [vectors_][padded head_dim]
  // kChunk numbers per vector and channel, and so a sketch of 64 columns with its tail.
  float* chunk(float* work) const { return vectors(work) + vectors_ * padded_; }

 private:
  int group_, rows_;
  size_t vectors_;  // at least 2 G, queries + G and kRows
  size_t row_, padded_;
};

}  // namespace vase
