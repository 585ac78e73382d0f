// uniform - one U[0,1) per candidate and eviction: evicts at random (Random Attention, arXiv 2609.03430;
// docs/policies.md 4.7). The control that any score must beat. No parameters.
#include "policies/parts.h"

namespace vase {
namespace {

class Uniform final : public Scorer {
 public:
  static std::shared_ptr<const Scorer> parse(PartOptions&) { return std::make_shared<Uniform>(); }

  void score(const HeadView& head, RandomDraws& draws, PolicyScratch&, std::span<float> out) const override {
    draws.uniform(head.positions, out);
  }
  std::string text() const override { return "uniform"; }
};

}  // namespace

const PartEntry<Scorer> kUniformPart = {"uniform", &Uniform::parse, "one uniform number per candidate and eviction",
                                               "control, arXiv 2609.03430"};

}  // namespace vase
