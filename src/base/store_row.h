// Encodes rows of keys and values as the cache stores them.
#pragma once

#include "vase/rows.h"

namespace vase {

// Of the types in kRowTypes. Writes row_bytes(type, width) to out: `width` floats, then zeros. f16 and bf16 round to
// nearest even.
void store_row(RowType type, const float* in, int width, void* out);

}  // namespace vase
