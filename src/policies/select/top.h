// top - the candidates with the largest scores; NaN loses to everything, equal scores go to the smaller position
// (docs/policies.md 3.4). Gather order: descending score. No parameters.
#pragma once

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Top final : public Selector {
 public:
  static std::shared_ptr<const Selector> parse(PartOptions&) { return std::make_shared<Top>(); }

  void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
              RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const override;
  std::string text() const override { return "top"; }
};

}  // namespace vase
