#include "kernels/window_scores/window_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace vase::kernels {
namespace {

// exp(logit - max) normalised to one unit of mass, added to sum. A row without any finite logit adds nothing.
void add_softmax(std::span<double> logits, std::span<double> sum) {
  double max = -std::numeric_limits<double>::infinity();
  for (double x : logits) max = std::max(max, x);
  if (std::isinf(max) && max < 0) return;
  double total = 0;
  for (double& x : logits) total += x = std::exp(x - max);
  for (size_t c = 0; c < logits.size(); ++c) sum[c] += logits[c] / total;
}

}  // namespace

void window_scores(std::span<const float> queries, int rows, const RowsView& keys, float scale, float temperature,
                   std::span<float> sum) {
  const size_t candidates = sum.size();
  const int width = keys.width;
  const double factor = static_cast<double>(scale) / temperature;
  std::vector<float> key(padded_row(width));
  std::vector<double> logits(rows * candidates), total(candidates);
  for (size_t c = 0; c < candidates; ++c) {
    read_row(keys, c, key.data());
    for (int r = 0; r < rows; ++r) {
      const float* query = queries.data() + static_cast<size_t>(r) * width;
      double dot = 0;
      for (int i = 0; i < width; ++i) dot += static_cast<double>(query[i]) * key[i];
      logits[r * candidates + c] = dot * factor;
    }
  }
  for (int r = 0; r < rows; ++r) add_softmax(std::span(logits).subspan(r * candidates, candidates), total);
  std::transform(total.begin(), total.end(), sum.begin(), [](double x) { return static_cast<float>(x); });
}

}  // namespace vase::kernels
