#include <set>

#include "eval/number_text.h"
#include "eval/or_null.h"
#include "eval/printable.h"
#include "eval/run/summary.h"

namespace vase::eval {
namespace {

using nlohmann::json;

// Of one problem the spread is not known.
std::string pass_cell(const SummaryRow& row) {
  return percent_text(row.pass) + (row.problems < 2 ? " ± ?" : " ± " + percent_text(row.pass_error));
}

std::string runs_cell(const SummaryRow& row) {
  return row.runs > 1 ? percent_text(row.lowest) + " to " + percent_text(row.highest) : "";
}

// "2.1 seeds, 4.0 samples"; empty where there is one of each.
std::string deviation_cell(const SummaryRow& row) {
  std::string text;
  for (const auto& [deviation, name] :
       {std::pair(row.evict_seed_deviation, " seeds"), std::pair(row.sample_deviation, " samples")}) {
    if (deviation) text += (text.empty() ? "" : ", ") + percent_text(*deviation) + name;
  }
  return text;
}

std::string difference_cell(const SummaryRow& row) {
  if (!row.paired) return "";
  const Paired& p = *row.paired;
  const auto points = [](double share) { return number_text("%+.1f", 100 * share); };
  if (!p.interval) return points(p.difference) + " [?]";
  return points(p.difference) + " [" + points(p.interval->low) + ", " + points(p.interval->high) + "]";
}

std::string ratio_cell(const SummaryRow& row) {
  if (!row.paired || row.budget == 0) return "";
  return number_text("%.2f", row.paired->item_ratio) + ", " + number_text("%.2f", row.paired->mean_ratio);
}

std::string known(bool is_known, const char* format, double value) {
  return is_known ? number_text(format, value) : "?";
}

constexpr SummaryColumn kKeys[] = {
    {"task", [](const SummaryRow& r) { return r.task; }},
    {"policy", [](const SummaryRow& r) { return r.policy; }},
    {"budget",
     [](const SummaryRow& r) { return r.budget > 0 ? std::to_string(r.budget) : std::string("-"); }},
};

constexpr SummaryColumn kAccuracy[] = {
    {"problems", [](const SummaryRow& r) { return std::to_string(r.problems); }},
    {"texts", [](const SummaryRow& r) { return std::to_string(r.items); }},
    {"pass@1 ± SE", pass_cell},
    {"runs", runs_cell},
    {"SD of runs", deviation_cell},
    {"strict", [](const SummaryRow& r) { return percent_text(r.strict); }},
    {"against full [95 %]", difference_cell},
    {"p", [](const SummaryRow& r) { return r.paired ? number_text("%.2g", r.paired->p) : std::string(); }},
    {"budget/length", ratio_cell},
};

constexpr SummaryColumn kCosts[] = {
    {"loop", [](const SummaryRow& r) { return percent_text(r.loop); }},
    {"garbage", [](const SummaryRow& r) { return percent_text(r.garbage); }},
    {"truncated", [](const SummaryRow& r) { return percent_text(r.truncated); }},
    {"no answer", [](const SummaryRow& r) { return percent_text(r.no_answer); }},
    {"tokens", [](const SummaryRow& r) { return known(r.mean_tokens > 0, "%.0f", r.mean_tokens); }},
    {"tokens/s", [](const SummaryRow& r) { return known(r.tokens_per_s > 0, "%.1f", r.tokens_per_s); }},
    {"KV MiB",
     [](const SummaryRow& r) {
       return known(r.kv_bytes > 0, "%.2f", static_cast<double>(r.kv_bytes) / 1048576);
     }},
};

constexpr const char* kLegend =
    "\npass@1: mean over problems of the share of right texts ± standard error over problems, %; runs: the "
    "worst and best single run. SD of runs: standard deviation of a single run's accuracy between eviction "
    "seeds (the same sample), and between samples (the same eviction seed). strict: right and ended by the "
    "model. against full: difference on the same items with its 95 % bootstrap interval over problems, and p "
    "of the exact sign test. budget/length: the budget divided by the length of the full cache's text, prompt "
    "included; mean of the items' own ratios, then the ratio to their mean length. loop, garbage, "
    "truncated, no answer: % of texts. tokens: generated per text. KV: one sequence at its longest.\n";

constexpr const char* kAlone = "± ?: one problem has no standard error; give several.\n";

std::string unjudged_line(int64_t count) {
  if (count == 0) return "";
  return std::to_string(count) + " texts could not be judged by the grader and count as wrong.\n";
}

}  // namespace

std::span<const SummaryColumn> key_columns() { return kKeys; }
std::span<const SummaryColumn> accuracy_columns() { return kAccuracy; }
std::span<const SummaryColumn> cost_columns() { return kCosts; }

std::string summary_table(std::span<const SummaryRow> rows) {
  std::set<std::string> sets;
  for (const SummaryRow& row : rows) sets.insert(row.set);
  const bool with_set = sets.size() > 1;
  std::string heading = with_set ? "| folder " : "", rule = with_set ? "|---" : "", body;
  for (const auto columns : {key_columns(), accuracy_columns(), cost_columns()}) {
    for (const SummaryColumn& column : columns) {
      heading += std::string("| ") + column.heading + " ";
      rule += "|---";
    }
  }
  bool alone = false;
  int64_t unjudged = 0;
  for (const SummaryRow& row : rows) {
    if (with_set) body += "| " + table_cell(row.set) + " ";
    for (const auto columns : {key_columns(), accuracy_columns(), cost_columns()}) {
      for (const SummaryColumn& column : columns) body += "| " + table_cell(column.text(row)) + " ";
    }
    body += "|\n";
    alone |= row.problems < 2;
    unjudged += row.unjudged;
  }
  return heading + "|\n" + rule + "|\n" + body + kLegend + (alone ? kAlone : "") + unjudged_line(unjudged);
}

json summary_json(const SummaryRow& r) {
  json row = {{"folder", r.set},
              {"task", r.task},
              {"policy", r.policy},
              {"budget", r.budget},
              {"problems", r.problems},
              {"texts", r.items},
              {"pass_at_1", r.pass},
              {"pass_at_1_error", r.problems < 2 ? json(nullptr) : json(r.pass_error)},
              {"runs", r.runs},
              {"worst_run", r.runs > 0 ? json(r.lowest) : json(nullptr)},
              {"best_run", r.runs > 0 ? json(r.highest) : json(nullptr)},
              {"evict_seed_sd", or_null(r.evict_seed_deviation)},
              {"sample_sd", or_null(r.sample_deviation)},
              {"strict", r.strict},
              {"unjudged", r.unjudged},
              {"loop", r.loop},
              {"garbage", r.garbage},
              {"truncated", r.truncated},
              {"no_answer", r.no_answer},
              {"generated_tokens_mean", r.mean_tokens},
              {"generated_tokens_max", r.most_tokens},
              {"prompt_tokens_mean", r.prompt_tokens},
              {"tokens_per_s", r.tokens_per_s > 0 ? json(r.tokens_per_s) : json(nullptr)},
              {"kv_bytes", r.kv_bytes > 0 ? json(r.kv_bytes) : json(nullptr)},
              {"against_full", nullptr}};
  if (!r.paired) return row;
  const std::optional<Interval>& interval = r.paired->interval;
  const auto low = interval ? std::optional(interval->low) : std::nullopt;
  const auto high = interval ? std::optional(interval->high) : std::nullopt;
  row["against_full"] = {
      {"problems", r.paired->problems},
      {"difference", r.paired->difference},
      {"low", or_null(low)},
      {"high", or_null(high)},
      {"sign_test_p", r.paired->p},
      {"budget_to_length", r.budget > 0 ? json(r.paired->item_ratio) : json(nullptr)},
      {"budget_to_mean_length", r.budget > 0 ? json(r.paired->mean_ratio) : json(nullptr)}};
  return row;
}

}  // namespace vase::eval
