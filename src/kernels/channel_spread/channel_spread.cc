#include "kernels/channel_spread/channel_spread.h"

#include <algorithm>
#include <cmath>

#include "kernels/channel_spread/fused.h"
#include "kernels/row_element.h"

namespace vase::kernels {
namespace {

void reference_scaling(const RowsView& rows, std::span<const uint32_t> which, std::span<float> low,
                       std::span<float> scale) {
  std::fill(low.begin(), low.end(), 0.0f);
  std::fill(scale.begin(), scale.end(), 0.0f);
  for (int c = 0; c < rows.width; ++c) {
    double smallest = INFINITY, largest = -INFINITY;
    for (uint32_t j : which) {
      smallest = std::min<double>(smallest, row_element(rows, j, c));
      largest = std::max<double>(largest, row_element(rows, j, c));
    }
    low[c] = static_cast<float>(smallest);
    scale[c] = largest > smallest ? static_cast<float>(1 / (largest - smallest)) : 0;
  }
}

void reference_spread(const RowsView& rows, std::span<const uint32_t> which, std::span<const float> low,
                      std::span<const float> scale, std::span<float> spread) {
  for (size_t i = 0; i < which.size(); ++i) {
    const auto scaled = [&](int c) { return (double(row_element(rows, which[i], c)) - low[c]) * scale[c]; };
    double mean = 0, squares = 0;
    for (int c = 0; c < rows.width; ++c) mean += scaled(c) / rows.width;
    for (int c = 0; c < rows.width; ++c) squares += (scaled(c) - mean) * (scaled(c) - mean);
    spread[i] = rows.width > 1 ? static_cast<float>(std::sqrt(squares / (rows.width - 1))) : 0;
  }
}

}  // namespace

void channel_scaling(Path path, const RowsView& rows, std::span<const uint32_t> which, std::span<float> low,
                     std::span<float> scale) {
  if (path == Path::kReference) {
    reference_scaling(rows, which, low, scale);
  } else {
    fused::channel_scaling(rows, which, low, scale);
  }
}

void channel_spread(Path path, const RowsView& rows, std::span<const uint32_t> which, std::span<const float> low,
                    std::span<const float> scale, std::span<float> spread) {
  if (path == Path::kReference) {
    reference_spread(rows, which, low, scale, spread);
  } else {
    fused::channel_spread(rows, which, low, scale, spread);
  }
}

}  // namespace vase::kernels
