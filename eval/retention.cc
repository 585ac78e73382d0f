#include "eval/retention.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr int kBins = 64;
constexpr size_t kPeriods = 10;

double entropy_share(std::span<const double> counts) {
  double total = 0, entropy = 0;
  for (double count : counts) total += count;
  for (double count : counts) {
    if (count > 0) entropy -= count / total * std::log(count / total);
  }
  return entropy / std::log(double(counts.size()));
}

std::optional<double> coverage(const LayerKept& layer) {
  const int64_t first = layer.prompt_tokens, span = layer.oldest_in_buffer - first;
  std::vector<double> bins(kBins);
  bool any = false;
  for (const auto& head : layer.heads) {
    for (int32_t position : head) {
      if (position < first || position >= layer.oldest_in_buffer) continue;
      bins[(position - first) * kBins / span] += 1;
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return entropy_share(bins);
}

double jaccard(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {  // sorted
  std::vector<int32_t> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return double(both.size()) / double(a.size() + b.size() - both.size());
}

std::optional<double> overlap(const std::vector<std::vector<int32_t>>& heads) {
  if (heads.size() < 2) return std::nullopt;
  double sum = 0;
  for (size_t a = 0; a < heads.size(); ++a) {
    for (size_t b = a + 1; b < heads.size(); ++b) sum += jaccard(heads[a], heads[b]);
  }
  return sum / (double(heads.size()) * double(heads.size() - 1) / 2);
}

// Of those that are there.
std::optional<double> mean_of(std::span<const std::optional<double>> values) {
  double sum = 0;
  int count = 0;
  for (const std::optional<double>& value : values) {
    if (value) sum += *value, ++count;
  }
  return count ? std::optional(sum / count) : std::nullopt;
}

// The part of a layer that one record stands for must be the same for all of its heads.
void check_alike(const EvictionRecord& a, const EvictionRecord& b) {
  if (a.seen == b.seen && a.candidates == b.candidates && a.buffer == b.buffer && a.prompt_tokens == b.prompt_tokens)
    return;
  throw Error(ErrorCode::kCorrupt, "eviction " + std::to_string(a.eviction) + ", layer " + std::to_string(a.layer) +
                                       ": heads " + std::to_string(a.kv_head) + " and " + std::to_string(b.kv_head) +
                                       " differ in tokens seen, candidates, buffer or prompt");
}

RetentionRow row_of(std::span<const EvictionRecord* const> heads) {
  const EvictionRecord& first = *heads[0];
  LayerKept layer{{}, first.candidates, first.prompt_tokens, first.seen - first.buffer};
  for (const EvictionRecord* head : heads) {
    check_alike(first, *head);
    layer.heads.emplace_back(head->kept.begin(), head->kept.end() - first.buffer);
    layer.value_similarity.push_back(head->value_similarity);
  }
  return {first.eviction, first.layer, first.seen, measure_retention(layer)};
}

}  // namespace

Retention measure_retention(const LayerKept& layer) {
  std::vector<std::vector<int32_t>> heads = layer.heads;
  std::vector<int32_t> all;
  size_t prompt_kept = 0;
  for (auto& head : heads) {
    std::ranges::sort(head);
    all.insert(all.end(), head.begin(), head.end());
    prompt_kept += std::ranges::lower_bound(head, layer.prompt_tokens) - head.begin();
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Retention r;
  r.union_share = double(all.size()) / layer.candidates;
  r.coverage_entropy = coverage(layer);
  r.overlap = overlap(heads);
  r.value_similarity = mean_of(layer.value_similarity);
  if (layer.prompt_tokens > 0) {
    r.prompt_union = double(std::ranges::lower_bound(all, layer.prompt_tokens) - all.begin()) / layer.prompt_tokens;
    r.prompt_mean = double(prompt_kept) / double(heads.size()) / layer.prompt_tokens;
  }
  return r;
}

std::vector<RetentionRow> retention_of(std::span<const EvictionRecord> records) {
  std::map<std::pair<int64_t, int>, std::map<int, const EvictionRecord*>> groups;
  size_t heads = 0;
  for (const EvictionRecord& r : records) {
    auto& group = groups[{r.eviction, r.layer}];
    if (!group.emplace(r.kv_head, &r).second) {
      throw Error(ErrorCode::kCorrupt, "eviction " + std::to_string(r.eviction) + ", layer " + std::to_string(r.layer) +
                                           ", head " + std::to_string(r.kv_head) +
                                           " comes twice; give the log of one run");
    }
    heads = std::max(heads, size_t(r.kv_head) + 1);
  }
  std::vector<RetentionRow> rows;
  for (const auto& [key, group] : groups) {
    if (group.size() != heads) {
      throw Error(ErrorCode::kCorrupt, "eviction " + std::to_string(key.first) + ", layer " +
                                           std::to_string(key.second) + " has " + std::to_string(group.size()) +
                                           " of " + std::to_string(heads) + " heads; the log is not complete");
    }
    std::vector<const EvictionRecord*> list;
    for (const auto& [head, record] : group) list.push_back(record);
    rows.push_back(row_of(list));
  }
  return rows;
}

Retention mean_retention(std::span<const RetentionRow> rows) {
  const auto mean_over_rows = [&](auto member) {
    std::vector<std::optional<double>> values;
    for (const RetentionRow& row : rows) values.push_back(row.retention.*member);
    return mean_of(values);
  };
  Retention mean;
  for (const RetentionRow& row : rows) mean.union_share += row.retention.union_share / double(rows.size());
  mean.coverage_entropy = mean_over_rows(&Retention::coverage_entropy);
  mean.overlap = mean_over_rows(&Retention::overlap);
  mean.prompt_union = mean_over_rows(&Retention::prompt_union);
  mean.prompt_mean = mean_over_rows(&Retention::prompt_mean);
  mean.value_similarity = mean_over_rows(&Retention::value_similarity);
  return mean;
}

std::vector<LayerRetention> layers_of(std::span<const RetentionRow> rows) {
  std::map<int, std::vector<RetentionRow>> layers;
  for (const RetentionRow& row : rows) layers[row.layer].push_back(row);
  std::vector<LayerRetention> means;
  for (const auto& [layer, own] : layers) means.push_back({layer, mean_retention(own)});
  return means;
}

std::vector<RetentionPeriod> periods_of(std::span<const RetentionRow> rows) {
  std::vector<size_t> starts;  // of evictions
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].eviction != rows[i - 1].eviction) starts.push_back(i);
  }
  const size_t count = std::min(kPeriods, starts.size());
  starts.push_back(rows.size());
  std::vector<RetentionPeriod> periods;
  for (size_t p = 0; p < count; ++p) {
    const size_t first = starts[p * (starts.size() - 1) / count], end = starts[(p + 1) * (starts.size() - 1) / count];
    const auto part = rows.subspan(first, end - first);
    periods.push_back({part.front().eviction, part.back().eviction, part.back().seen, mean_retention(part)});
  }
  return periods;
}

}  // namespace vase::eval
