#include "policies/score_terms.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace vase {
namespace {

// The whole of text as a signed number, or nothing.
std::optional<double> weight_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Where "name+0.5" splits into a factor and the weight of the next term, or npos.
size_t next_weight(std::string_view piece) {
  for (size_t at = piece.find_first_of("+-"); at != std::string_view::npos; at = piece.find_first_of("+-", at + 1)) {
    if (weight_of(piece.substr(at))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<ScoreTerm> split_terms(Word score) {
  const std::vector<Word> pieces = split(score, "*", false);
  std::vector<ScoreTerm> terms(1);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool last = i + 1 == pieces.size();
    const Word& piece = pieces[i];
    if (i == 0 && !last) {
      if (const auto weight = weight_of(piece.text)) {
        terms.back().weight = *weight;
        continue;
      }
    }
    const size_t at = last ? std::string_view::npos : next_weight(piece.text);
    const Word factor = piece.part(0, at);
    if (factor.text.empty()) fail_at(piece, "a score is missing; write terms like 0.5*attention-0.5*redundancy");
    if (const size_t plus = factor.text.find('+'); plus < factor.text.find(':')) {
      fail_at(factor.part(plus),
              "a further term needs its weight: write " + quoted("+1*" + std::string(factor.text.substr(plus + 1))));
    }
    terms.back().factors.push_back(factor);
    if (at != std::string_view::npos) terms.push_back({*weight_of(piece.text.substr(at)), {}});
  }
  return terms;
}

}  // namespace vase
