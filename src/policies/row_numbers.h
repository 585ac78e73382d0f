// A number for each candidate out of its key or value row, whether the rows are there or have to be decoded block by block.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "vase/head_view.h"

namespace vase {

enum class Row { kKey, kValue };

// out[C]. numbers(rows, some) writes one of each of the first some.size() rows, which depends on that row alone.
template <class Numbers>
void row_numbers(const HeadView& head, Row which, std::span<float> out, const Numbers& numbers) {
  if (!head.blocks) return numbers(which == Row::kKey ? head.keys : head.values, out);
  std::array<float, RowBlocks::kMost> room;
  for (int b = 0; b < head.blocks->count(); ++b) {
    const RowBlock block = which == Row::kKey ? head.blocks->keys(b) : head.blocks->values(b);
    const std::span<float> some = std::span(room).first(block.index.size());
    numbers(block.rows, some);
    for (size_t r = 0; r < some.size(); ++r) {
      if (block.index[r] < out.size()) out[block.index[r]] = some[r];  // others are of the buffer
    }
  }
}

}  // namespace vase
