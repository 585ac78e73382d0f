#include "kernels/query_scores/query_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/query_scores/fused.h"

namespace vase::kernels {
namespace reference {

void row_dots(std::span<const float> vectors, int count, const RowsView& rows, int n, float* out, size_t stride) {
  const int padded = padded_row(rows.width);
  std::vector<float> row(padded);
  for (int i = 0; i < n; ++i) {
    read_row(rows, i, row.data());
    for (int v = 0; v < count; ++v) {
      double dot = 0;
      for (int c = 0; c < rows.width; ++c) dot += double(vectors[size_t(v) * padded + c]) * row[c];
      out[v * stride + i] = static_cast<float>(dot);
    }
  }
}

void pair_magnitudes(const RowsView& rows, int n, int pairs, bool adjacent, float* out) {
  std::vector<float> row(padded_row(rows.width));
  std::fill_n(out, size_t(n) * padded_row(pairs), 0.0f);
  for (int i = 0; i < n; ++i) {
    read_row(rows, i, row.data());
    for (int f = 0; f < pairs; ++f) {
      const double a = row[adjacent ? 2 * f : f], b = row[adjacent ? 2 * f + 1 : f + pairs];
      out[size_t(i) * padded_row(pairs) + f] = static_cast<float>(std::sqrt(a * a + b * b));
    }
  }
}

void add_softmax(std::span<float> logits, std::span<float> sum) {
  const auto counts = [](float logit) { return logit < std::numeric_limits<float>::infinity(); };
  double max = -std::numeric_limits<double>::infinity(), total = 0;
  for (float logit : logits) max = counts(logit) ? std::max<double>(max, logit) : max;
  const bool any = std::isfinite(max);
  for (float logit : logits) total += counts(logit) && any ? std::exp(logit - max) : 0;
  for (size_t j = 0; j < sum.size(); ++j) {
    const double share = any ? std::exp(logits[j] - max) / total : 0;
    sum[j] += counts(logits[j]) ? static_cast<float>(share) : std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace reference

RowsView rows_from(const RowsView& rows, size_t first) {
  RowsView rest = rows;
  if (rows.slots) {
    rest.slots += first;
  } else {
    rest.base = static_cast<const std::byte*>(rows.base) + first * rows.stride;
  }
  return rest;
}

void row_dots(Path path, std::span<const float> vectors, int count, const RowsView& rows, int n, float* out,
              size_t stride) {
  (path == Path::kReference ? reference::row_dots : fused::row_dots)(vectors, count, rows, n, out, stride);
}

void pair_magnitudes(Path path, const RowsView& rows, int n, int pairs, bool adjacent, float* out) {
  (path == Path::kReference ? reference::pair_magnitudes : fused::pair_magnitudes)(rows, n, pairs, adjacent, out);
}

void add_softmax(Path path, std::span<float> logits, std::span<float> sum) {
  (path == Path::kReference ? reference::add_softmax : fused::add_softmax)(logits, sum);
}

}  // namespace vase::kernels
