// From results to tables: what every row of `vase eval run` and `vase eval show` means.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/paired.h"
#include "eval/run/record.h"

namespace vase::eval {

// The results of one folder.
struct ResultSet {
  std::string name;       // the folder
  nlohmann::json config;  // the content of its config.json
  std::vector<Result> results;

  int64_t expected() const;  // texts that all shards together ask for
  bool complete() const { return static_cast<int64_t>(results.size()) >= expected(); }
};

// Reads a folder that no run needs to have finished. Throws Error as read_config() and FolderResults::read()
// do.
ResultSet read_result_set(const std::string& folder);

// Against the full cache on the same items. Every number is over problems, of a problem the mean over its
// texts.
struct Paired {
  int problems = 0;       // that both have
  double difference = 0;  // share of right texts less that of the full cache
  std::optional<Interval> interval;  // 95 %, bootstrap over problems
  double p = 1;           // sign test, two-sided
  double mean_ratio = 0;  // budget / mean length of the full cache's texts, prompt included; at most 1
  double item_ratio =
      0;  // mean over items of budget / length of the full cache's text of the same item, each at most 1
};

// One policy at one budget on one task.
struct SummaryRow {
  std::string set, task, policy;
  int budget = 0;
  int problems = 0;
  int64_t items = 0;  // texts that are there
  double pass = 0,
         pass_error =
             0;       // pass@1: mean over problems of the share of right texts; standard error over problems
  double strict = 0;  // the same for texts that are right and that the model ended itself
  double lowest = 0,
         highest = 0;  // pass@1 of the worst and best single run: one eviction seed, one sample each
  int runs = 0;        // that are complete, so that their shares are of the same problems
  // Standard deviation of the pass@1 of runs that differ in nothing but the eviction seed, or but the sample: around the
  // mean of those with the same other one, n - 1 of each. Empty where there are no two such runs.
  std::optional<double> evict_seed_deviation, sample_deviation;
  int64_t unjudged = 0;  // texts that the grader could not judge; they count as wrong
  double garbage = 0, loop = 0, truncated = 0, no_answer = 0;  // shares of texts
  double mean_tokens = 0, prompt_tokens = 0;                   // per text: generated, and of the prompt
  int most_tokens = 0;
  double tokens_per_s = 0;       // of all sequences together, while this cell was running; 0: not known
  uint64_t kv_bytes = 0;         // of one sequence at the longest moment of all its texts; 0: not known
  std::optional<Paired> paired;  // empty without the full cache, and for itself
};

// Rows in the order of the sets' configurations. What each is compared with is `full` on the same task in its
// own set, or else in the first set that has it for the same model (of a server for any), with the same
// instruction, system message, sampling, seed of the texts, limits of tokens, stops, --stop-loops and grader.
std::vector<SummaryRow> summarise(std::span<const ResultSet> sets);

// Wall time in seconds during which at least one of the results was in progress; time of several processes
// adds up.
double busy_seconds(std::span<const Result* const> results);

// A column of a table: its heading and what it says of a row.
struct SummaryColumn {
  const char* heading;
  std::string (*text)(const SummaryRow& row);
};
// What a row is about; how right its texts are; how they fail and what they cost.
std::span<const SummaryColumn> key_columns();
std::span<const SummaryColumn> accuracy_columns();
std::span<const SummaryColumn> cost_columns();

nlohmann::json summary_json(const SummaryRow& row);
// All these columns in Markdown, with a legend.
std::string summary_table(std::span<const SummaryRow> rows);

}  // namespace vase::eval
