#include "policies/magnitude.h"

#include <algorithm>

#include "policies/row_numbers.h"

namespace vase {

void value_magnitudes(kernels::Magnitude kind, const HeadView& head, PolicyScratch& scratch, std::span<float> out) {
  if (kind == kernels::Magnitude::kRange) {
    std::copy(head.value_range.begin(), head.value_range.end(), out.begin());
    return;
  }
  const std::span<const float> row = std::span(scratch.row).first(head.values.width);
  row_numbers(head, Row::kValue, out, [&](const RowsView& rows, std::span<float> some) {
    for (size_t i = 0; i < some.size(); ++i) {
      read_row(rows, i, scratch.row.data());
      some[i] = kernels::value_magnitude(kind, row);
    }
  });
}

}  // namespace vase
