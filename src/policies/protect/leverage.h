// leverage:N - tokens with the largest key-value leverage (ours; docs/policies.md 4.17): m_j = |k_j| |v_j|, the
// root of what `score=leverage:sketch=off` ranks by. It is known from the first and never changes, so the same tokens
// stay at every eviction.
//   N        number of tokens or percentage of the budget M (rounded down), default 50%
// N is the size of the protected set that the rule leaves behind, as with `value`. Gather order: descending leverage,
// equal ones by position.
#pragma once

#include <algorithm>

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class LargeLeverage final : public Protector {
 public:
  explicit LargeLeverage(Amount size) : size_(size) {}
  static std::shared_ptr<const Protector> parse(PartOptions& options);

  PolicyNeeds needs() const override { return {.norm_product = true}; }
  void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const override;
  int smallest_keep() const override { return std::max(1, size_.fixed_tokens()); }
  std::string text() const override;

 private:
  Amount size_;
};

}  // namespace vase
