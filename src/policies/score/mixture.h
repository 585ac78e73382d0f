// A sum of weighted products of scores (docs/policies.md 1.3), as in "0.5*attention-0.5*redundancy" or
// "attention*value": score_j = sum over terms t of weight_t * product of the term's scores of j.
#pragma once

#include <memory>
#include <vector>

#include "vase/policy.h"

namespace vase {

class Mixture final : public Scorer {
 public:
  struct Term {
    double weight = 1;
    std::vector<std::shared_ptr<const Scorer>> factors;  // at least one
  };

  // At least one term.
  explicit Mixture(std::vector<Term> terms) : terms_(std::move(terms)) {}

  // Throws Error(kUsage) when two parts need different records of attention.
  PolicyNeeds needs() const override;
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  void check(const ModelHeads& heads) const override;
  std::string text() const override;

 private:
  std::vector<Term> terms_;
};

}  // namespace vase
