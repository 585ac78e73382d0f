#include "eval/kl_summary.h"

#include <cmath>

#include "eval/number_text.h"
#include "eval/or_null.h"
#include "eval/statistics.h"

namespace vase::eval {
namespace {

std::string perplexity_text(const KlSummary& s) {
  if (s.predicting == 0) return "-";
  return with_error("%.3f", s.perplexity, s.perplexity_error, s.predicting) + " (" +
         number_text("%.3f", s.full_perplexity) + ")";
}

}  // namespace

KlSums& KlSums::operator+=(const KlSums& more) {
  kl += more.kl;
  same_top += more.same_top;
  nll += more.nll;
  full_nll += more.full_nll;
  positions += more.positions;
  predicted += more.predicted;
  return *this;
}

KlSummary summarise(const std::map<std::string, KlSums>& texts) {
  KlSummary s;
  std::vector<double> kl, same, nll, full;
  for (const auto& [name, sums] : texts) {
    kl.push_back(sums.kl / sums.positions);
    same.push_back(sums.same_top / sums.positions);
    s.positions += static_cast<int64_t>(sums.positions);
    if (sums.predicted == 0) continue;
    nll.push_back(sums.nll / sums.predicted);
    full.push_back(sums.full_nll / sums.predicted);
  }
  s.texts = static_cast<int>(kl.size());
  s.predicting = static_cast<int>(nll.size());
  s.kl = mean(kl);
  s.kl_error = standard_error(kl);
  s.same_top = mean(same);
  s.same_top_error = standard_error(same);
  if (s.predicting == 0) return s;
  s.perplexity = std::exp(mean(nll));
  s.perplexity_error = s.perplexity * standard_error(nll);  // first order
  s.full_perplexity = std::exp(mean(full));
  return s;
}

std::optional<double> known_error(double error, int texts) {
  return texts < 2 ? std::nullopt : std::optional(error);
}

std::string with_error(const char* format, double value, double error, int texts) {
  const std::optional<double> known = known_error(error, texts);
  return number_text(format, value) + " ± " + (known ? number_text(format, *known) : "?");
}

std::vector<std::string> summary_cells(const KlSummary& s, const std::string& mark) {
  if (s.positions == 0) return {"never evicted", "", "", "", "", ""};
  return {with_error("%.4f", s.kl, s.kl_error, s.texts) + mark,
          number_text("%.4f", s.median),
          number_text("%.3f", s.p99),
          number_text("%.2f", s.max),
          with_error("%.1f", 100 * s.same_top, 100 * s.same_top_error, s.texts),
          perplexity_text(s)};
}

nlohmann::json summary_json(const KlSummary& s) {
  const auto perplexity = [&](double value) {
    return or_null(s.predicting > 0 ? std::optional(value) : std::nullopt);
  };
  return {{"texts", s.texts},
          {"positions", s.positions},
          {"kl_mean", s.kl},
          {"kl_error", or_null(known_error(s.kl_error, s.texts))},
          {"kl_median", s.median},
          {"kl_p99", s.p99},
          {"kl_max", s.max},
          {"same_top", s.same_top},
          {"same_top_error", or_null(known_error(s.same_top_error, s.texts))},
          {"perplexity", perplexity(s.perplexity)},
          {"perplexity_error", or_null(known_error(s.perplexity_error, s.predicting))},
          {"perplexity_full", perplexity(s.full_perplexity)}};
}

}  // namespace vase::eval
