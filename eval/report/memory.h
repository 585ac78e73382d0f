// What a cache takes as a text grows, from the sizes that results have recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/report/panels.h"

namespace vase::eval::report {

// One policy at one budget. A sequence of n tokens takes min(n, slots) x slot_bytes + fixed_bytes.
struct MemoryLine {
  std::string policy;
  int budget = 0;
  double slot_bytes = 0;  // of one slot in every layer and KV head
  double fixed_bytes =
      0;              // newest tokens that are not quantised yet, newest queries; 0 where it cannot be told
  int64_t slots = 0;  // at most; 0: it grows with the text
  uint64_t most_bytes = 0;  // recorded

  double bytes_at(double tokens) const;
};

// One model with one kind of rows and of prefill.
struct MemoryGroup {
  std::string model;  // its fingerprint
  std::string rows;   // "f16 keys, f16 values"
  std::vector<MemoryLine> lines;
  int64_t longest = 0;  // text that was generated, with its prompt (tokens)
  int64_t allowed = 0;  // longest text that the runs allowed, at least `longest`

  // Of the full cache; null when there is none.
  const MemoryLine* full() const;
};

// Results of servers, whose memory is not known, are in none.
std::vector<MemoryGroup> memory_groups_of(const std::vector<ResultSet>& sets,
                                          const std::vector<SummaryRow>& rows);

}  // namespace vase::eval::report
