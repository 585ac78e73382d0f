// position - the newest stay: s_j = minus the age in tokens (docs/policies.md 4.8). Beside sinks it is StreamingLLM
// (arXiv 2309.17453), alone the control "recency". No parameters.
#include "policies/parts.h"

namespace vase {
namespace {

class Position final : public Scorer {
 public:
  static std::shared_ptr<const Scorer> parse(PartOptions&) { return std::make_shared<Position>(); }

  void score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    for (size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(head.positions[j] + 1 - head.seen);
  }
  std::string text() const override { return "position"; }
};

}  // namespace

const PartEntry<Scorer> kPositionPart = {"position", &Position::parse, "minus the age in tokens: the newest stay",
                                         "arXiv 2309.17453"};

}  // namespace vase
