// Encodes rows of keys and values as the cache stores them.
#pragma once

#include "vase/rows.h"

namespace vase {

// Of the types in kRowTypes. Writes row_bytes(type, width) to out: `width` floats, then zeros. f16 and bf16 round to
// nearest even. kQ8_0 rounds as ggml's quantize_row_q8_0_ref does (scale = largest magnitude / 127, halves away from
// zero); a block with a number that is not finite becomes NaN as a whole, so that the fault stays visible.
void store_row(RowType type, const float* in, int width, void* out);

}  // namespace vase
