#include "vase/select.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox_draws.h"
#include "kernels/value_range/value_range.h"
#include "policies/arrays/attention_record.h"
#include "policies/arrays/check.h"
#include "vase/error.h"

namespace vase {
namespace {

// Rows as the parts read them: padded to a multiple of 16 numbers. Copied only if they are not that already.
class PaddedRows {
 public:
  PaddedRows(std::span<const float> rows, int width) {
    const size_t stride = padded_row(width), count = rows.size() / width;
    view = {.base = rows.data(), .stride = stride * sizeof(float), .type = RowType::kF32, .width = width, .slots = nullptr};
    if (stride == size_t(width)) return;
    store_.resize(count * stride);
    for (size_t i = 0; i < count; ++i) std::copy_n(rows.data() + i * width, width, store_.data() + i * stride);
    view.base = store_.data();
  }
  RowsView view;

 private:
  std::vector<float> store_;
};

std::vector<int32_t> positions_of(const SelectInput& input) {
  std::vector<int32_t> positions(input.positions.begin(), input.positions.end());
  if (!positions.empty()) return positions;
  positions.resize(input.keys.size() / input.head_dim);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<float> value_ranges(const SelectInput& input, size_t count) {
  std::vector<float> ranges(count);
  for (size_t i = 0; i < count; ++i) {
    const auto row = input.values.subspan(i * input.head_dim, input.head_dim);
    ranges[i] = kernels::value_magnitude(kernels::Magnitude::kRange, row);
  }
  return ranges;
}

QueriesView newest_queries(const SelectInput& input, int wanted) {
  const size_t token = size_t(input.group) * input.head_dim;
  const int count = static_cast<int>(input.queries.size() / token), used = std::min(count, wanted);
  return {.base = input.queries.data() + (count - used) * token,
          .capacity = used,
          .first = 0,
          .count = used,
          .group = input.group,
          .width = input.head_dim};
}

}  // namespace

Selection select_slots(const Policy& policy, const SelectInput& input) {
  check_select_input(policy, input);
  const PolicyNeeds needs = policy.needs();
  const std::vector<int32_t> positions = positions_of(input);
  const size_t rows = positions.size(), candidates = rows - input.buffer;
  const AttentionRecords records = attention_records(input, positions, needs);
  const PaddedRows keys(input.keys, input.head_dim), values(input.values, input.head_dim);
  const std::vector<float> ranges = needs.value_range ? value_ranges(input, candidates) : std::vector<float>();
  std::vector<float> weights(input.log_weight.begin(), input.log_weight.end());
  weights.resize(rows);  // zeros when none are given

  HeadView head{.budget = input.budget,
                .buffer = input.buffer,
                .prompt_tokens = input.prompt_tokens,
                .group = input.group,
                .layer = input.layer,
                .kv_head = input.kv_head,
                .seen = int64_t(positions.back()) + 1,
                .positions = std::span(positions).first(candidates),
                .attention = records.attention,
                .attention_rows = records.rows,
                .last_use = records.last_use,
                .longest_gap = records.longest_gap,
                .value_range = ranges,
                .keys = keys.view,
                .values = values.view,
                .rope = input.rope};
  if (needs.log_weight) head.log_weight = std::span(weights).first(candidates);
  if (needs.queries > 0) head.queries = newest_queries(input, needs.queries);

  PhiloxDraws draws({.seed = input.seed,
                     .sequence = input.stream,
                     .layer = static_cast<uint32_t>(input.layer),
                     .head = static_cast<uint32_t>(input.kv_head),
                     .eviction = input.eviction});
  PolicyScratch scratch;
  PlanTrace trace;
  Selection selection;
  selection.kept.resize(input.budget);
  policy.plan(head, draws, scratch, std::span(selection.kept).first(head.keep()), &trace);
  std::iota(selection.kept.begin() + head.keep(), selection.kept.end(), static_cast<uint32_t>(candidates));
  selection.scores = std::move(trace.scores);
  selection.protected_ = std::move(trace.protected_);
  if (needs.log_weight) {
    std::copy_n(scratch.log_weight.begin(), candidates, weights.begin());
    for (const uint32_t row : selection.kept) selection.log_weight.push_back(weights[row]);
  }
  return selection;
}

std::vector<float> rope_frequencies(double base, int head_dim) {
  if (!(base > 0) || !std::isfinite(base) || head_dim < 1) {
    throw Error(ErrorCode::kUsage, "rope: base and head_dim must be finite and above 0");
  }
  std::vector<float> frequencies(head_dim / 2);
  for (size_t f = 0; f < frequencies.size(); ++f) {
    frequencies[f] = static_cast<float>(std::pow(base, -2.0 * f / head_dim));
  }
  return frequencies;
}

}  // namespace vase
