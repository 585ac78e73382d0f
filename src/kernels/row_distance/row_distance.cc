#include "kernels/row_distance/row_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/row_distance/fused.h"

namespace vase::kernels {
namespace reference {

void weighted_row_sum(const RowsView& rows, std::span<const float> weights, std::span<float> sum) {
  std::vector<double> total(sum.size());
  std::vector<float> row(padded_row(rows.width));
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0 || std::isnan(weights[i])) continue;
    read_row(rows, i, row.data());
    for (int c = 0; c < rows.width; ++c) total[c] += double(weights[i]) * row[c];
  }
  std::transform(total.begin(), total.end(), sum.begin(), [](double x) { return static_cast<float>(x); });
}

void row_distance(const RowsView& rows, std::span<const float> point, std::span<float> distance) {
  std::vector<float> row(padded_row(rows.width));
  for (size_t i = 0; i < distance.size(); ++i) {
    read_row(rows, i, row.data());
    double sum = 0;
    for (int c = 0; c < rows.width; ++c) sum += (double(row[c]) - point[c]) * (double(row[c]) - point[c]);
    distance[i] = static_cast<float>(std::sqrt(sum));
  }
}

}  // namespace reference

void weighted_row_sum(Path path, const RowsView& rows, std::span<const float> weights, std::span<float> sum) {
  (path == Path::kReference ? reference::weighted_row_sum : fused::weighted_row_sum)(rows, weights, sum);
}

void row_distance(Path path, const RowsView& rows, std::span<const float> point, std::span<float> distance) {
  (path == Path::kReference ? reference::row_distance : fused::row_distance)(rows, point, distance);
}

}  // namespace vase::kernels
