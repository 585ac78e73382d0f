// The numbers of `vase eval kl` as a table for people and as JSON lines for programs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/kl.h"
#include "eval/kl_summary.h"

namespace vase::eval {

// One policy at one budget over all texts and seeds.
struct KlRow {
  std::string name;           // the policy, as the user wrote it
  int budget = 0;             // M; 0 for a row of the full cache
  std::vector<KlText> texts;  // every text once per seed
  std::string kv_type = {};   // of its rows, as --kv-type takes them; empty: not told apart in this table
  uint64_t bytes = 0;         // of one sequence's cache, scratch included; with a kv_type
  nlohmann::json settings = nlohmann::json::object();  // settings_json(), for who wants the numbers again
};

// What shapes a row beside its budget and seeds: parts_json() of eval/run/cache_json.h, "cache":
// cache_json(), "chunk".
nlohmann::json settings_json(const Policy& policy, const CacheOptions& cache, const KlOptions& options);

// Rows of the full cache against itself, without texts: with another chunk size, and with f32 rows.
std::vector<KlRow> noise_floor_rows(const KlOptions& options);
// Measures one text for each of them, at the positions from the given one on.
void add_noise_floors(std::vector<KlRow>& floors, const FullCache& full, const KlOptions& options,
                      int64_t count_from = 0);
// The largest of their means: what lies below it means nothing.
double noise_floor(const std::vector<KlRow>& floors);

// Statistics of a row. Quantiles and the maximum are over all counted positions.
KlSummary summarise(const KlRow& row);

// Each text's own mean in nats, seeds pooled; texts without counted positions are left out.
std::map<std::string, double> text_means(const KlRow& row);

// One line for each text and seed, and a row, with the settings. Build and model are the caller's to add; of
// a row the seeds, too.
nlohmann::json text_json(const KlRow& row, const KlText& text, uint64_t seed);
nlohmann::json summary_json(const KlRow& row);

// Markdown. floors: the full cache against itself, one row per change; the largest of their means is the
// noise floor, and rows whose KL lies below it are marked as not told apart from the full cache.
std::string kl_table(const std::vector<KlRow>& rows, const std::vector<KlRow>& floors);

}  // namespace vase::eval
