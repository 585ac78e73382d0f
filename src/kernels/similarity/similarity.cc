#include "kernels/similarity/similarity.h"

#include <algorithm>
#include <cmath>

#include "kernels/leverage/leverage.h"
#include "kernels/row_element.h"
#include "kernels/similarity/fused.h"

namespace vase::kernels {
namespace {

constexpr double kNormFloor = 1e-8;

double dot(const RowsView& rows, size_t i, size_t j) {
  double sum = 0;
  for (int c = 0; c < rows.width; ++c) sum += double(row_element(rows, i, c)) * row_element(rows, j, c);
  return sum;
}

void reference_direction_sum(const RowsView& keys, std::span<const float> inverse, std::span<float> sum) {
  std::fill(sum.begin(), sum.end(), 0.0f);
  for (int c = 0; c < keys.width; ++c) {
    double total = 0;
    for (size_t j = 0; j < inverse.size(); ++j) total += double(row_element(keys, j, c)) * inverse[j];
    sum[c] = static_cast<float>(total);
  }
}

void reference_newest_similar(const RowsView& keys, std::span<const uint32_t> order, std::span<const float> inverse,
                              float threshold, std::span<double> duplicate) {
  for (uint32_t i : order) {
    for (size_t at = order.size(); at-- > 0;) {
      const uint32_t j = order[at];
      const double similarity = j == i ? 0 : dot(keys, i, j) * inverse[i] * inverse[j];
      if (!(similarity > threshold)) continue;
      duplicate[j] += similarity;
      break;
    }
  }
}

}  // namespace

void inverse_norms(Path path, const RowsView& keys, std::span<float> inverse) {
  if (path == Path::kReference) {
    for (size_t j = 0; j < inverse.size(); ++j) inverse[j] = static_cast<float>(dot(keys, j, j));
  } else {
    row_energy(keys, inverse);
  }
  for (float& x : inverse) x = static_cast<float>(1 / (std::sqrt(double(x)) + kNormFloor));
}

void direction_sum(Path path, const RowsView& keys, std::span<const float> inverse, std::span<float> partial,
                   std::span<float> sum) {
  if (path == Path::kReference) {
    reference_direction_sum(keys, inverse, sum);
  } else {
    fused::direction_sum(keys, inverse, partial, sum);
  }
}

void newest_similar(Path path, const RowsView& keys, std::span<const uint32_t> order, std::span<const float> inverse,
                    float threshold, std::span<double> duplicate) {
  if (path == Path::kReference) {
    reference_newest_similar(keys, order, inverse, threshold, duplicate);
  } else {
    fused::newest_similar(keys, order, inverse, threshold, duplicate);
  }
}

}  // namespace vase::kernels
