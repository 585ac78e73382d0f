// Types of rows to test with.
#pragma once

#include <iterator>

#include "vase/rows.h"

namespace vase::test {

// One of those of a RowsView; equal indices give equal types.
inline RowType row_type(int index) { return kRowTypes[index % std::size(kRowTypes)]; }

}  // namespace vase::test
