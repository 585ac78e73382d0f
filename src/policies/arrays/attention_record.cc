#include "policies/arrays/attention_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vase {
namespace {

constexpr double kNoLogit = -std::numeric_limits<double>::infinity();

// One row of probabilities: p[i] of input row i for a query [d], 0 for the rows that it must not look at.
// visible(i): whether it may look at row i; at least one.
template <typename Visible>
void probabilities(const SelectInput& input, std::span<const float> query, double temperature, const Visible& visible,
                   std::span<double> p) {
  const size_t width = query.size();
  double top = kNoLogit, total = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    p[i] = kNoLogit;
    if (!visible(i)) continue;
    const std::span<const float> key = input.keys.subspan(i * width, width);
    double dot = 0;
    for (size_t c = 0; c < width; ++c) dot += double(query[c]) * key[c];
    const double bias = input.log_weight.empty() ? 0 : input.log_weight[i];
    p[i] = (dot / std::sqrt(double(width)) + bias) / temperature;
    top = std::max(top, p[i]);
  }
  for (double& x : p) total += x = std::exp(x - top);
  for (double& x : p) x /= total;
}

std::span<const float> query_row(const SelectInput& input, int w, int g) {
  return input.queries.subspan((size_t(w) * input.group + g) * input.head_dim, input.head_dim);
}

int query_count(const SelectInput& input) {
  return static_cast<int>(input.queries.size() / (size_t(input.group) * input.head_dim));
}

AttentionRecords window_record(const SelectInput& input, std::span<const int32_t> positions, size_t candidates,
                               const PolicyNeeds& needs) {
  const int count = query_count(input), used = std::min(count, input.buffer);
  std::vector<double> p(needs.over_all ? positions.size() : candidates), sum(candidates);
  for (int w = count - used; w < count; ++w) {
    const int position = positions.back() + 1 - count + w;
    // Every candidate is older than the window.
    const auto visible = [&](size_t i) { return positions[i] <= position; };
    for (int g = 0; g < input.group; ++g) {
      probabilities(input, query_row(input, w, g), needs.temperature, visible, p);
      for (size_t c = 0; c < candidates; ++c) {
        if (needs.attention == AttentionRecord::kWindowSum) sum[c] += p[c];
        if (needs.attention == AttentionRecord::kWindowSquares) sum[c] += p[c] * p[c];
        if (needs.attention == AttentionRecord::kWindowMax) sum[c] = std::max(sum[c], p[c]);
      }
    }
  }
  AttentionRecords records{.attention = {sum.begin(), sum.end()}, .last_use = {}, .longest_gap = {}};
  records.rows = used * input.group;
  return records;
}

// Calls use(g, position of the query, p [n]) for all queries, oldest first.
template <typename Use>
void for_each_query(const SelectInput& input, std::span<const int32_t> positions, const Use& use) {
  const int count = query_count(input), newest = positions.back();
  std::vector<double> p(positions.size());
  for (int w = 0; w < count; ++w) {
    const int position = newest + 1 - count + w;
    const auto visible = [&](size_t i) { return positions[i] <= position; };
    if (std::none_of(positions.begin(), positions.end(), [&](int32_t x) { return x <= position; })) continue;
    for (int g = 0; g < input.group; ++g) {
      probabilities(input, query_row(input, w, g), 1, visible, p);
      use(position, p);
    }
  }
}

AttentionRecords lifetime_record(const SelectInput& input, std::span<const int32_t> positions, size_t candidates) {
  std::vector<double> sum(candidates);
  for_each_query(input, positions, [&](int, std::span<const double> p) {
    for (size_t c = 0; c < candidates; ++c) sum[c] += p[c];
  });
  return {.attention = {sum.begin(), sum.end()}, .last_use = {}, .longest_gap = {}};
}

AttentionRecords recurrence_record(const SelectInput& input, std::span<const int32_t> positions, size_t candidates,
                                   double threshold) {
  AttentionRecords records{.attention = {},
                           .last_use = {positions.begin(), positions.begin() + candidates},
                           .longest_gap = std::vector<int32_t>(candidates)};
  for_each_query(input, positions, [&](int position, std::span<const double> p) {
    for (size_t c = 0; c < candidates; ++c) {
      if (positions[c] > position || p[c] < threshold) continue;
      records.longest_gap[c] = std::max(records.longest_gap[c], position - records.last_use[c]);
      records.last_use[c] = position;
    }
  });
  return records;
}

}  // namespace

AttentionRecords attention_records(const SelectInput& input, std::span<const int32_t> positions,
                                   const PolicyNeeds& needs) {
  const size_t candidates = positions.size() - input.buffer;
  switch (needs.attention) {
    case AttentionRecord::kNone: return {};
    case AttentionRecord::kLifetimeSum: return lifetime_record(input, positions, candidates);
    case AttentionRecord::kRecurrence: return recurrence_record(input, positions, candidates, needs.threshold);
    default: return window_record(input, positions, candidates, needs);
  }
}

}  // namespace vase
