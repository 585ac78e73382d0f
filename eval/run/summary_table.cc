#include <cstdio>
#include <set>

#include "eval/run/summary.h"

namespace vase::eval {
namespace {

using nlohmann::json;

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string percent(double share) { return number("%.1f", 100 * share); }

// Of one problem the spread is not known.
std::string pass_cell(const SummaryRow& row) {
  return percent(row.pass) + (row.problems < 2 ? " ± ?" : " ± " + percent(row.pass_error));
}

std::string paired_cells(const SummaryRow& row) {
  if (!row.paired) return " |  | ";
  const Paired& p = *row.paired;
  const std::string ratios =
      row.budget > 0 ? number("%.2f", p.item_ratio) + ", " + number("%.2f", p.mean_ratio) : "";
  return number("%+.1f", 100 * p.difference) + " [" + number("%+.1f", 100 * p.interval.low) + ", " +
         number("%+.1f", 100 * p.interval.high) + "] | " + number("%.2g", p.p) + " | " + ratios;
}

std::string table_row(const SummaryRow& r, bool with_set) {
  std::string line = with_set ? "| " + r.set + " " : "";
  line += "| " + r.task + " | " + r.policy + " | " + (r.budget > 0 ? std::to_string(r.budget) : "-") + " | " +
          std::to_string(r.problems) + " | " + std::to_string(r.items) + " | " + pass_cell(r) + " | ";
  line += (r.runs > 1 ? percent(r.lowest) + " to " + percent(r.highest) : std::string()) + " | " +
          percent(r.strict) + " | ";
  line += paired_cells(r) + " | " + percent(r.loop) + " | " + percent(r.garbage) + " | " +
          percent(r.truncated) + " | " + percent(r.no_answer) + " | ";
  line += (r.mean_tokens > 0 ? number("%.0f", r.mean_tokens) : std::string("?")) + " | " +
          (r.tokens_per_s > 0 ? number("%.1f", r.tokens_per_s) : std::string("?")) + " | " +
          (r.kv_bytes > 0 ? number("%.2f", static_cast<double>(r.kv_bytes) / 1048576) : std::string("?")) +
          " |\n";
  return line;
}

constexpr const char* kLegend =
    "\npass@1: mean over problems of the share of right texts ± standard error over problems, %; runs: the "
    "worst and best single "
    "run. strict: right and ended by the model. against full: difference on the same items with its 95 % "
    "bootstrap interval over "
    "problems, and p of the exact sign test. budget/length: the budget divided by the length of the full "
    "cache's text, prompt "
    "included; mean of the items' own ratios, then the ratio to their mean length. loop, garbage, truncated, "
    "no answer: % of "
    "texts. tokens: generated per text. KV: one sequence at its longest.\n";

}  // namespace

std::string summary_table(std::span<const SummaryRow> rows) {
  std::set<std::string> sets;
  for (const SummaryRow& row : rows) sets.insert(row.set);
  const bool with_set = sets.size() > 1;
  std::string text = with_set ? "| folder " : "";
  text +=
      "| task | policy | budget | problems | texts | pass@1 ± SE | runs | strict | against full [95 %] | p | "
      "budget/length | loop "
      "| garbage | truncated | no answer | tokens | tokens/s | KV MiB |\n";
  text += with_set ? "|---" : "";
  for (int i = 0; i < 18; ++i) text += "|---";
  text += "|\n";
  bool alone = false;
  for (const SummaryRow& row : rows) {
    text += table_row(row, with_set);
    alone |= row.problems < 2;
  }
  text += kLegend;
  if (alone) text += "± ?: one problem has no standard error; give several.\n";
  return text;
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
              {"strict", r.strict},
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
  row["against_full"] = {
      {"problems", r.paired->problems},
      {"difference", r.paired->difference},
      {"low", r.paired->interval.low},
      {"high", r.paired->interval.high},
      {"sign_test_p", r.paired->p},
      {"budget_to_length", r.budget > 0 ? json(r.paired->item_ratio) : json(nullptr)},
      {"budget_to_mean_length", r.budget > 0 ? json(r.paired->mean_ratio) : json(nullptr)}};
  return row;
}

}  // namespace vase::eval
