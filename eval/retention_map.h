// Which part of a text all heads together still hold, over the course of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vase/engine.h"

namespace vase::eval {

struct RetentionMap {
  int64_t tokens = 0;     // seen at the last eviction: where rows and columns end
  int prompt_tokens = 0;  // P; 0 = not known
  int heads = 0;          // KV heads of all layers that have evicted
  // [rows][columns]. Row r is the moment at which end_of(r, rows) tokens have been seen; column c holds the
  // positions from end_of(c - 1, columns) to before end_of(c, columns). The share is the mean over heads and
  // over the column's positions that have been seen by then; nothing where none has.
  std::vector<std::vector<std::optional<double>>> shares;

  // In tokens, of the i-th of `count` equal parts.
  int64_t end_of(size_t i, size_t count) const {
    return static_cast<int64_t>(i + 1) * tokens / static_cast<int64_t>(count);
  }
};

// records: of one sequence, not empty, in any order. A head holds what its last eviction kept and all tokens
// since; all of them before its first. Fewer rows or columns when the text has fewer tokens.
RetentionMap retention_map(std::span<const EvictionRecord> records, size_t rows, size_t columns);

}  // namespace vase::eval
