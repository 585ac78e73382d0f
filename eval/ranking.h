// Rows of one table that count the same positions, best first, and which of them these texts tell apart from
// the best.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/kl_report.h"

namespace vase::eval {

struct RankedRow {
  const KlRow* row = nullptr;
  KlSummary summary;
  double behind = 0;        // nats, mean over texts of its KL less that of the best on the same text
  double behind_error = 0;  // standard error of that over texts; 0 and without meaning for one text
  // Behind is more than the noise floor, and more than t_quantile() standard errors of two texts or more.
  bool told_apart = false;
};

// By growing KL; of equals the one that came first. Rows without counted positions are left out. floor: nats.
// The rows must outlive the result.
std::vector<RankedRow> rank_rows(const std::vector<KlRow>& rows, double floor);

// Markdown, with a line about what the marks mean. first: the first position that counts.
std::string ranking_table(const std::vector<RankedRow>& ranked, const std::vector<KlRow>& floors,
                          int64_t first);

// summary_json() of the row with `behind`, `behind_error` (null for one text) and `told_apart`.
nlohmann::json ranked_json(const RankedRow& ranked);

}  // namespace vase::eval
