#include "eval/ranking.h"

#include <algorithm>
#include <utility>

#include "eval/number_text.h"
#include "eval/printable.h"
#include "eval/or_null.h"
#include "eval/statistics.h"

namespace vase::eval {
namespace {

void compare(RankedRow& row, const RankedRow& best, double floor) {
  std::vector<double> differences;
  const std::map<std::string, double> own = text_means(*row.row), other = text_means(*best.row);
  for (const auto& [text, kl] : own) {
    if (const auto found = other.find(text); found != other.end()) differences.push_back(kl - found->second);
  }
  row.behind = mean(differences);
  row.behind_error = standard_error(differences);
  const int degrees = static_cast<int>(differences.size()) - 1;
  row.told_apart = degrees > 0 && row.behind > floor && row.behind > t_quantile(degrees) * row.behind_error;
}

std::string table_row(const RankedRow& one, bool best) {
  const KlSummary& s = one.summary;
  const std::string behind =
      best ? "-" : with_error("%.4f", one.behind, one.behind_error, s.texts) + (one.told_apart ? "" : " (=)");
  return "| " + one.row->kv_type + " | " + table_cell(one.row->name) + " | " + std::to_string(one.row->budget) + " | " +
         number_text("%.2f", static_cast<double>(one.row->bytes) / 1048576) + " | " +
         with_error("%.4f", s.kl, s.kl_error, s.texts) + " | " + behind + " | " + number_text("%.4f", s.median) +
         " | " + number_text("%.3f", s.p99) + " | " + percent_text(s.same_top) + " |\n";
}

}  // namespace

std::vector<RankedRow> rank_rows(const std::vector<KlRow>& rows, double floor) {
  std::vector<RankedRow> ranked;
  for (const KlRow& row : rows) {
    RankedRow one{.row = &row, .summary = summarise(row)};
    if (one.summary.positions > 0) ranked.push_back(one);
  }
  std::ranges::sort(ranked, {}, [](const RankedRow& one) { return std::pair(one.summary.kl, one.row); });
  for (size_t i = 1; i < ranked.size(); ++i) compare(ranked[i], ranked[0], floor);
  return ranked;
}

std::string ranking_table(const std::vector<RankedRow>& ranked, const std::vector<KlRow>& floors,
                          int64_t first) {
  std::string text =
      "| rows | policy | budget | MiB | mean KL ± SE (nats) | behind the best ± SE | median | p99 | same top "
      "token, % |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  bool equals = false;
  for (size_t i = 0; i < ranked.size(); ++i) {
    text += table_row(ranked[i], i == 0);
    equals |= i > 0 && !ranked[i].told_apart;
  }
  const double floor = noise_floor(floors);
  text += "\nAll rows count the same positions of each text, from " + std::to_string(first) +
          " on, the first at which any of them can differ from the full cache. Noise floor: " +
          number_text("%.4f", floor) + "; differences below it mean nothing.\n";
  if (equals)
    text +=
        "(=) not told apart from the best: the paired difference lies within the noise floor or its 95 % "
        "interval over texts holds 0 (Student's t).\n";
  if (!ranked.empty() && ranked[0].summary.texts < 2)
    text += "± ?: one text has no standard error and tells nothing apart; give several.\n";
  if (!ranked.empty() && ranked[0].summary.kl <= floor)
    text += "The best is not told apart from the full cache.\n";
  return text;
}

nlohmann::json ranked_json(const RankedRow& ranked) {
  nlohmann::json json = summary_json(*ranked.row);
  json["behind"] = ranked.behind;
  json["behind_error"] = or_null(known_error(ranked.behind_error, ranked.summary.texts));
  json["told_apart"] = ranked.told_apart;
  return json;
}

}  // namespace vase::eval
