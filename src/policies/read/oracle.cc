#include "policies/read/oracle.h"

#include <algorithm>
#include <cmath>

#include "kernels/query_scores/query_scores.h"
#include "policies/parts.h"

namespace vase {

std::shared_ptr<const Reader> OracleBlocks::parse(PartOptions& options) {
  return std::make_shared<OracleBlocks>(options.integer("block", 64, 1, 4096));
}

// Queries with padded rows, then the logits of each.
size_t OracleBlocks::scratch_floats(const ModelHeads& heads, int tokens) const {
  return size_t(heads.group) * (padded_row(heads.head_dim) + kernels::results_row(tokens));
}

void OracleBlocks::score(const ReadView& view, std::span<float> out) const {
  const int width = view.keys.width, padded = padded_row(width);
  const size_t stride = kernels::results_row(view.tokens);
  const std::span<float> queries = view.scratch.first(size_t(view.group) * padded);
  float* const dots = view.scratch.data() + queries.size();
  std::ranges::fill(queries, 0.0f);
  for (int g = 0; g < view.group; ++g)
    std::copy_n(view.queries + size_t(g) * width, width, &queries[size_t(g) * padded]);
  kernels::row_dots(kernels::Path::kFused, queries, view.group, view.keys, view.tokens, dots, stride);

  const double scale = 1 / std::sqrt(static_cast<double>(width));
  std::ranges::fill(out, 0.0f);
  for (int g = 0; g < view.group; ++g) {
    const float* row = dots + g * stride;
    const double top = *std::max_element(row, row + view.tokens);
    double sum = 0;
    for (int t = 0; t < view.tokens; ++t) sum += std::exp((row[t] - top) * scale);
    for (int b = 0; b < view.blocks; ++b) {
      const int first = b * block_, end = std::min(first + block_, view.tokens);
      const double best = *std::max_element(row + first, row + end);
      out[b] = std::max(out[b], static_cast<float>(std::exp((best - top) * scale) / sum));
    }
  }
}

ReadChoice OracleBlocks::choice(int budget) const {
  return {.blocks = budget / block_, .last_among_them = false, .threshold = {}};
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {{"block", "64", "1 to 4096 tokens", "tokens per block"}};

}  // namespace

const PartEntry<Reader> kOraclePart = {
    "oracle", &OracleBlocks::parse, "the blocks with the largest true probability of a token, over the group's heads",
    "control", kParameters};

}  // namespace vase
