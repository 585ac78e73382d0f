// value - magnitude of the value row (docs/policies.md 3.3), or its negative (docs/policies.md 4.18, "Evict Large V").
//   measure  range (default) | var | l2 | absmax
//   keep     large (default) | small
//   top      N, tokens or percentage of the budget M: 1 for the N candidates that are most worth keeping, 0 for the
//            others, so that a mixture can favour or shun them; default 0: the magnitude itself
#pragma once

#include "kernels/value_range/value_range.h"
#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class ValueSize final : public Scorer {
 public:
  ValueSize(kernels::Magnitude measure, bool keep_small, Amount top)
      : measure_(measure), keep_small_(keep_small), top_(top) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options);

  PolicyNeeds needs() const override;
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override;

 private:
  kernels::Magnitude measure_;
  bool keep_small_;
  Amount top_;
};

}  // namespace vase
