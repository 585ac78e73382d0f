// sample - weighted draw without replacement, the scores being the weights (VaSE, arXiv 2606.03928;
// docs/policies.md 3.5).
// When fewer candidates have a positive weight than are to be kept, the rest is drawn uniformly among the others and
// counted. Gather order: draw order. No parameters.
#pragma once

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Sample final : public Selector {
 public:
  static std::shared_ptr<const Selector> parse(PartOptions&) { return std::make_shared<Sample>(); }

  void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
              RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const override;
  std::string text() const override { return "sample"; }
};

}  // namespace vase
