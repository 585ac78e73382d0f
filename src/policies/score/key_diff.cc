// key-diff - keys that point away from the mean direction stay (KeyDiff, arXiv 2504.15364; docs/policies.md 4.11):
//   s_j = -cos(k_j, sum over the candidates i of k_i / |k_i|).
// The reverse of the ranking by `redundancy`. No parameters.
#include <cmath>

#include "policies/parts.h"
#include "policies/score/key_directions.h"

namespace vase {
namespace {

class KeyDiff final : public Scorer {
 public:
  static std::shared_ptr<const Scorer> parse(PartOptions&) { return std::make_shared<KeyDiff>(); }

  PolicyNeeds needs() const override { return {.rows = true}; }
  void score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const override {
    const KeyDirections keys = key_directions(head.keys, head.candidates(), scratch);
    double squares = 0;
    for (float x : keys.sum) squares += static_cast<double>(x) * x;
    const double length = squares > 0 ? std::sqrt(squares) : 1;  // no direction: all alike
    for (size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(-keys.along_sum(j) / length);
  }
  std::string text() const override { return "key-diff"; }
};

}  // namespace

const PartEntry<Scorer> kKeyDiffPart = {"key-diff", &KeyDiff::parse,
                                        "minus the cosine to the mean direction of the keys", "arXiv 2504.15364"};

}  // namespace vase
