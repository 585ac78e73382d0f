// How alike vectors are.
#pragma once

#include <optional>
#include <span>

namespace vase {

// Mean |cos| between pairs of rows [n][width]. Of more than 512 rows, 512 evenly spaced ones are compared. Rows without
// length have cosine 0. Empty for fewer than two rows.
std::optional<double> mean_abs_cosine(std::span<const float> rows, int width);

}  // namespace vase
