// Types of rows to test with.
#pragma once

#include <vector>

#include "vase/rows.h"

namespace vase::test {

// Those whose blocks a row of this width fills.
inline std::vector<RowType> row_types(int width) {
  std::vector<RowType> fitting;
  for (const RowType type : kRowTypes) {
    if (width % row_block(type) == 0) fitting.push_back(type);
  }
  return fitting;
}

// One of them; equal indices give equal types.
inline RowType row_type(int index, int width) {
  const std::vector<RowType> all = row_types(width);
  return all[index % all.size()];
}

}  // namespace vase::test
