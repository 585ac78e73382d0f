// What the heads of a layer hold after an eviction, seen together: the diagnostics of Random Attention
// (arXiv 2609.03430).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vase/engine.h"

namespace vase::eval {

// One eviction of one layer of one sequence.
struct LayerKept {
  std::vector<std::vector<int32_t>> heads;  // [H] positions of the K kept candidates, in any order; the buffer left out
  int candidates = 0;                       // C of each head
  int prompt_tokens = 0;                    // P: positions below it belong to the prompt
  int64_t oldest_in_buffer = 0;             // seen - R: candidates have smaller positions
  std::vector<std::optional<double>> value_similarity = {};  // of heads, as EvictionRecord's; those that are known
};

// Empty where there is nothing to measure.
struct Retention {
  // Different positions kept by any head, divided by C. K/C when heads keep the same tokens; above 1 when they hold
  // such different ones that together they remember more than one head has room for.
  double union_share = 0;
  // Where in the text the kept tokens lie: entropy of the kept positions of all heads, those of the prompt left out, in
  // 64 equal bins over [P, seen - R), divided by ln 64. 1 = evenly spread, 0 = all in one bin.
  std::optional<double> coverage_entropy;
  // Mean over pairs of heads of |A and B| / |A or B| of what they keep. 1 = the same tokens.
  std::optional<double> overlap;
  // Share of the P prompt tokens that any head keeps, and that one head keeps on average.
  std::optional<double> prompt_union, prompt_mean;
  // Mean over heads of how alike the values are that a head keeps.
  std::optional<double> value_similarity;
};

// Needs at least one head and C > 0.
Retention measure_retention(const LayerKept& layer);

struct RetentionRow {
  int64_t eviction = 0;
  int layer = 0;
  int64_t seen = 0;
  Retention retention;
};

// One row per (eviction, layer), ascending, of the records of one sequence, in any order. Throws Error(kCorrupt) when a
// head of an eviction is missing or comes twice, or when heads of one eviction contradict each other.
std::vector<RetentionRow> retention_of(std::span<const EvictionRecord> records);

// Means, each over the rows where there is something to measure.
Retention mean_retention(std::span<const RetentionRow> rows);

struct LayerRetention {
  int layer = 0;
  Retention mean;
};
// Means over the evictions of each layer, by growing layer.
std::vector<LayerRetention> layers_of(std::span<const RetentionRow> rows);

struct RetentionPeriod {
  int64_t first = 0, last = 0;  // evictions
  int64_t seen = 0;             // tokens seen at the last
  Retention mean;               // over layers, too
};
// Evictions in up to ten parts of equal length. rows: in the order of evictions.
std::vector<RetentionPeriod> periods_of(std::span<const RetentionRow> rows);

}  // namespace vase::eval
