#include "policies/score/key_directions.h"

#include "kernels/query_scores/query_scores.h"
#include "kernels/similarity/similarity.h"

namespace vase {

KeyDirections key_directions(const RowsView& keys, int rows, PolicyScratch& scratch) {
  const size_t width = padded_row(keys.width);
  const auto inverse = std::span(scratch.energy).first(rows);
  const auto dots = std::span(scratch.draws).first(rows);
  const auto sum = std::span(scratch.gaussian).first(width);
  kernels::inverse_norms(kernels::Path::kFused, keys, inverse);
  kernels::direction_sum(kernels::Path::kFused, keys, inverse, std::span(scratch.row).first(width), sum);
  kernels::row_dots(kernels::Path::kFused, sum, 1, keys, rows, dots.data(), kernels::results_row(rows));
  return {inverse, dots, sum};
}

}  // namespace vase
