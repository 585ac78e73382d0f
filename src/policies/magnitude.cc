#include "policies/magnitude.h"

#include <algorithm>

namespace vase {

void value_magnitudes(kernels::Magnitude kind, const HeadView& head, PolicyScratch& scratch, std::span<float> out) {
  if (kind == kernels::Magnitude::kRange) {
    std::copy(head.value_range.begin(), head.value_range.end(), out.begin());
    return;
  }
  const std::span<const float> row = std::span(scratch.row).first(head.values.width);
  for (int c = 0; c < head.candidates(); ++c) {
    read_row(head.values, c, scratch.row.data());
    out[c] = kernels::value_magnitude(kind, row);
  }
}

}  // namespace vase
