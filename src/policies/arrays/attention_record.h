// Records of attention (vase/head_view.h) computed from stored queries, in double: the plain form of what an engine
// adds up while it decodes.
#pragma once

#include <span>
#include <vector>

#include "vase/head_view.h"
#include "vase/select.h"

namespace vase {

struct AttentionRecords {
  std::vector<float> attention;                // [C], as needs.attention says; empty for kRecurrence
  std::vector<int32_t> last_use, longest_gap;  // [C] kRecurrence
  int rows = 0;                                // probability rows of a window record
};

// The record that `needs` asks for. positions: [n]; input.queries: at least one, of the newest tokens.
//   window:                 p of the newest min(W, R) queries, normalised over the C candidates
//   lifetime, recurrence:   p of all queries, each normalised over the rows that are not newer than it
AttentionRecords attention_records(const SelectInput& input, std::span<const int32_t> positions,
                                   const PolicyNeeds& needs);

}  // namespace vase
