#include "policies/score/mixture.h"

#include <algorithm>

#include "policies/part_options.h"

namespace vase {

PolicyNeeds Mixture::needs() const {
  PolicyNeeds all;
  for (const Term& term : terms_) {
    for (const auto& factor : term.factors) all.add(factor->needs());
  }
  return all;
}

void Mixture::score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const {
  const auto term = std::span(scratch.term).first(out.size());
  const auto sum = std::span(scratch.mixed).first(out.size());
  std::fill(sum.begin(), sum.end(), 0.0f);
  for (const Term& t : terms_) {
    std::fill(term.begin(), term.end(), static_cast<float>(t.weight));
    for (const auto& factor : t.factors) {
      factor->score(head, draws, scratch, out);
      for (size_t j = 0; j < out.size(); ++j) term[j] *= out[j];
    }
    for (size_t j = 0; j < out.size(); ++j) sum[j] += term[j];
  }
  std::copy(sum.begin(), sum.end(), out.begin());
}

void Mixture::check(const ModelHeads& heads) const {
  for (const Term& term : terms_) {
    for (const auto& factor : term.factors) factor->check(heads);
  }
}

std::string Mixture::text() const {
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty() && term.weight >= 0) text += '+';
    if (!text.empty() || term.weight != 1) text += shortest(term.weight) + "*";
    for (const auto& factor : term.factors) text += (&factor == &term.factors[0] ? "" : "*") + factor->text();
  }
  return text;
}

}  // namespace vase
