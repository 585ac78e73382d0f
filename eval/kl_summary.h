// Statistics of a divergence over texts, as tables and JSON show them: for `vase eval kl` and `vase tune`,
// which hold every position, and for `vase report`, which reads lines of single texts again.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace vase::eval {

// Sums over the counted positions of one text, its seeds pooled.
struct KlSums {
  double kl = 0, same_top = 0;
  double nll = 0, full_nll = 0;  // over those with a next token
  double positions = 0, predicted = 0;

  KlSums& operator+=(const KlSums& more);
};

// Means are means over texts of each text's own mean (seeds pooled), so that their standard error over texts
// is honest.
struct KlSummary {
  int texts = 0;       // with at least one counted position; of one alone there are no standard errors
  int predicting = 0;  // those with a next token; of none there is no perplexity, of one alone no error of it
  int64_t positions = 0;  // counted positions, all seeds
  double kl = 0, kl_error = 0;
  double median = 0, p99 = 0, max = 0;
  double same_top = 0, same_top_error = 0;      // share, 0 .. 1
  double perplexity = 0, perplexity_error = 0;  // exp of the mean of the texts' mean negative log likelihoods
  double full_perplexity = 0;
};

// All but median, p99 and max, which sums do not tell. Every text has a counted position.
KlSummary summarise(const std::map<std::string, KlSums>& texts);

// A standard error over so many texts; empty for one, whose spread is not known.
std::optional<double> known_error(double error, int texts);
// "0.1250 ± 0.0100", or "0.1250 ± ?".
std::string with_error(const char* format, double value, double error, int texts);

// "never evicted", or mean with the mark behind it; then median, p99, max, same top token in percent, and
// perplexity with that of the full cache.
std::vector<std::string> summary_cells(const KlSummary& summary, const std::string& mark);
// `texts`, `positions` and the fields from `kl_mean` to `perplexity_full`. What is not known is null.
nlohmann::json summary_json(const KlSummary& summary);

}  // namespace vase::eval
