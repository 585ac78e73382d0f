#include "vase/select.h"

#include <algorithm>
#include <cmath>
#include <deque>
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
    view = {
        .base = rows.data(), .stride = stride * sizeof(float), .type = RowType::kF32, .width = width, .slots = nullptr};
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

std::vector<float> norm_products(const SelectInput& input, size_t count) {
  std::vector<float> products(count);
  const auto norm = [&](std::span<const float> rows, size_t i) {
    return kernels::value_magnitude(kernels::Magnitude::kL2, rows.subspan(i * input.head_dim, input.head_dim));
  };
  for (size_t i = 0; i < count; ++i) products[i] = norm(input.keys, i) * norm(input.values, i);
  return products;
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

// What a policy sees of one head, and the memory behind it.
struct Head {
  Head(const SelectInput& input, const PolicyNeeds& needs)
      : positions(positions_of(input)),
        records(attention_records(input, positions, needs)),
        keys(input.keys, input.head_dim),
        values(input.values, input.head_dim),
        weights(input.log_weight.begin(), input.log_weight.end()),
        draws({.seed = input.seed,
               .sequence = input.stream,
               .layer = static_cast<uint32_t>(input.layer),
               .head = static_cast<uint32_t>(input.kv_head),
               .eviction = input.eviction}) {
    const size_t candidates = positions.size() - input.buffer;
    if (needs.value_range) ranges = value_ranges(input, candidates);
    if (needs.norm_product) products = norm_products(input, candidates);
    weights.resize(positions.size());  // zeros when none are given
    view = {.budget = input.budget,
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
            .norm_product = products,
            .keys = keys.view,
            .values = values.view,
            .rope = input.rope};
    if (needs.log_weight) view.log_weight = std::span(weights).first(candidates);
    if (needs.queries > 0) view.queries = newest_queries(input, needs.queries);
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  std::vector<int32_t> positions;
  AttentionRecords records;
  PaddedRows keys, values;
  std::vector<float> ranges, products, weights;
  PhiloxDraws draws;
  HeadView view;
};

void check_alike(std::span<const SelectInput> heads) {
  if (heads.empty()) throw Error(ErrorCode::kUsage, "select: there is no head; give at least one");
  const std::vector<int32_t> positions = positions_of(heads[0]);
  for (const SelectInput& head : heads) {
    if (head.budget == heads[0].budget && head.buffer == heads[0].buffer &&
        head.prompt_tokens == heads[0].prompt_tokens && head.group == heads[0].group &&
        head.head_dim == heads[0].head_dim && positions_of(head) == positions) {
      continue;
    }
    throw Error(ErrorCode::kUsage, "select: heads that share what they keep must have equal sizes and positions");
  }
}

}  // namespace

Selection select_slots(const Policy& policy, const SelectInput& input) {
  return select_shared_slots(policy, {&input, 1});
}

Selection select_shared_slots(const Policy& policy, std::span<const SelectInput> inputs) {
  for (const SelectInput& input : inputs) check_select_input(policy, input);
  check_alike(inputs);
  const PolicyNeeds needs = policy.needs();
  std::deque<Head> heads;
  std::vector<HeadView> views;
  std::vector<RandomDraws*> draws;
  for (const SelectInput& input : inputs) {
    views.push_back(heads.emplace_back(input, needs).view);
    draws.push_back(&heads.back().draws);
  }
  const HeadView& first = views.front();
  PolicyScratch scratch;
  PlanTrace trace;
  Selection selection;
  selection.kept.resize(first.budget);
  policy.plan_shared(views, draws, scratch, std::span(selection.kept).first(first.keep()), &trace);
  std::iota(selection.kept.begin() + first.keep(), selection.kept.end(), static_cast<uint32_t>(first.candidates()));
  selection.scores = std::move(trace.scores);
  selection.protected_ = std::move(trace.protected_);
  if (needs.log_weight) {
    std::vector<float>& weights = heads.front().weights;
    std::copy_n(scratch.log_weight.begin(), first.candidates(), weights.begin());
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
