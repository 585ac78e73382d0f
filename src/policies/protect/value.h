// value:N - tokens with the largest values (VaSE, arXiv 2606.03928; docs/policies.md 3.3, 4.2):
// m_j = max_i v_ji - min_i v_ji.
//   N        number of tokens or percentage of the budget M (rounded down), default 25%
//   measure  range (default) | var | l2 | absmax
// N is the size of the protected set that the rule leaves behind: tokens that `sinks` has claimed are part of it (they
// rank first, as if their magnitude were infinite), prompt tokens are not. N is cut to what K has room for; with N >= K
// the policy keeps the top K by magnitude. Gather order: descending magnitude, equal ones by position.
#pragma once

#include <algorithm>

#include "kernels/value_range/value_range.h"
#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class LargeValues final : public Protector {
 public:
  LargeValues(Amount size, kernels::Magnitude measure) : size_(size), measure_(measure) {}
  static std::shared_ptr<const Protector> parse(PartOptions& options);

  PolicyNeeds needs() const override;
  void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const override;
  int smallest_keep() const override { return std::max(1, size_.fixed_tokens()); }
  std::string text() const override;

 private:
  Amount size_;
  kernels::Magnitude measure_;
};

}  // namespace vase
