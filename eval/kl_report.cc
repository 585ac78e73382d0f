#include "eval/kl_report.h"

#include <algorithm>
#include <map>

#include "eval/number_text.h"
#include "eval/printable.h"
#include "eval/run/cache_json.h"
#include "eval/statistics.h"

namespace vase::eval {
namespace {

// Texts without counted positions are left out.
std::map<std::string, KlSums> by_text(const KlRow& row) {
  std::map<std::string, KlSums> texts;
  for (const KlText& t : row.texts) {
    if (t.kl.empty()) continue;
    KlSums& s = texts[t.text];
    for (float kl : t.kl) s.kl += kl;
    s.positions += static_cast<double>(t.kl.size());
    s.same_top += t.same_top;
    s.nll += t.nll;
    s.full_nll += t.full_nll;
    s.predicted += t.predicted;
  }
  return texts;
}

void add_bytes(nlohmann::json& json, const KlRow& row) {
  if (row.kv_type.empty()) return;
  json["kv_type"] = row.kv_type;
  json["kv_bytes"] = row.bytes;
}

// "230", or where megabytes have bought it "230 (q4_0, 7.98 MiB)".
std::string budget_text(const KlRow& row) {
  const std::string budget = std::to_string(row.budget);
  if (row.kv_type.empty()) return budget;
  return budget + " (" + row.kv_type + ", " + number_text("%.2f", static_cast<double>(row.bytes) / 1048576) + " MiB)";
}

std::string table_row(const std::string& name, const std::string& budget, const KlSummary& s,
                      const std::string& mark) {
  std::string text = "| " + table_cell(name) + " | " + budget + " |";
  for (const std::string& cell : summary_cells(s, mark)) text += cell.empty() ? " |" : " " + cell + " |";
  return text + " " + std::to_string(s.positions) + " |\n";
}

// What a full cache has that is compared with the full cache.
struct Change {
  const char* name;
  int chunk;
  RowType type;
};

std::vector<Change> changes_of(const KlOptions& options) {
  const int other = options.chunk == 1 ? 2 : (options.chunk + 1) / 2;
  return {{"full, other chunk size", other, RowType::kF16}, {"full, f32 rows", options.chunk, RowType::kF32}};
}

}  // namespace

nlohmann::json settings_json(const Policy& policy, const CacheOptions& cache, const KlOptions& options) {
  nlohmann::json settings = parts_json(policy.text());
  settings["cache"] = cache_json(cache);
  settings["chunk"] = options.chunk;
  return settings;
}

std::vector<KlRow> noise_floor_rows(const KlOptions& options) {
  std::vector<KlRow> rows;
  for (const Change& change : changes_of(options)) {
    const CacheOptions cache{.key_type = change.type, .value_type = change.type};
    rows.push_back(
        {.name = change.name, .texts = {}, .settings = settings_json({}, cache, {.chunk = change.chunk})});
  }
  return rows;
}

void add_noise_floors(std::vector<KlRow>& floors, const FullCache& full, const KlOptions& options,
                      int64_t count_from) {
  const std::vector<Change> changes = changes_of(options);
  for (size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    floors.at(i).texts.push_back(full.compare_with_itself(change.chunk, change.type, options, count_from));
  }
}

double noise_floor(const std::vector<KlRow>& floors) {
  double floor = 0;
  for (const KlRow& row : floors) floor = std::max(floor, summarise(row).kl);
  return floor;
}

KlSummary summarise(const KlRow& row) {
  KlSummary s = summarise(by_text(row));
  std::vector<double> all;
  for (const KlText& t : row.texts) all.insert(all.end(), t.kl.begin(), t.kl.end());
  if (all.empty()) return s;
  s.median = median(all);
  s.p99 = quantile(all, 0.99);
  s.max = *std::ranges::max_element(all);
  return s;
}

std::map<std::string, double> text_means(const KlRow& row) {
  std::map<std::string, double> means;
  for (const auto& [name, sums] : by_text(row)) means[name] = sums.kl / sums.positions;
  return means;
}

nlohmann::json text_json(const KlRow& row, const KlText& text, uint64_t seed) {
  std::vector<double> kl(text.kl.begin(), text.kl.end());
  const double positions = std::max<double>(1, static_cast<double>(kl.size()));
  const double predicted = std::max(1, text.predicted);
  nlohmann::json json = {
          {"policy", row.name},
          {"budget", row.budget},
          {"evict_seed", seed},
          {"text", text.text},
          {"tokens", text.tokens},
          {"prompt_tokens", text.prompt_tokens},
          {"first_eviction", text.first_eviction},
          {"positions", kl.size()},
          {"kl_mean", mean(kl)},
          {"kl_median", median(kl)},
          {"kl_p99", quantile(kl, 0.99)},
          {"kl_max", kl.empty() ? 0 : *std::ranges::max_element(kl)},
          {"same_top", text.same_top / positions},
          {"nll", text.nll / predicted},
          {"nll_full", text.full_nll / predicted}};
  json.update(row.settings);
  add_bytes(json, row);
  return json;
}

nlohmann::json summary_json(const KlRow& row) {
  nlohmann::json json = summary_json(summarise(row));
  json["policy"] = row.name;
  json["budget"] = row.budget;
  json.update(row.settings);
  add_bytes(json, row);
  return json;
}

std::string kl_table(const std::vector<KlRow>& rows, const std::vector<KlRow>& floors) {
  const double floor = noise_floor(floors);
  std::string text =
      "| policy | budget | mean KL ± SE (nats) | median | p99 | max | same top token, % | perplexity (full) "
      "| positions |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const KlRow& row : floors) text += table_row(row.name, "-", summarise(row), "");
  bool below = false, alone = false;
  for (const KlRow& row : rows) {
    const KlSummary s = summarise(row);
    const bool mark = s.positions > 0 && s.kl <= floor;
    below |= mark;
    alone |= s.texts == 1;
    text += table_row(row.name, budget_text(row), s, mark ? " (*)" : "");
  }
  text +=
      "\nKL of the policy's next-token distribution from the full cache's, at the positions after the first "
      "eviction, without one "
      "after the first row that was quantised, or behind the prompt from the first that reads less than all. "
      "Noise floor: " +
      number_text("%.4f", floor) + "; differences below it mean nothing.\n";
  if (alone) text += "± ?: one text has no standard error; give several.\n";
  if (below) text += "(*) not told apart from the full cache.\n";
  return text;
}

}  // namespace vase::eval
