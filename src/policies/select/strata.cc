// strata - the best of each stretch of the text (arXiv 2609.03430; docs/policies.md 4.7): what is not protected is cut,
// in logical order, into as many equal chunks as places are to fill, and each chunk keeps its largest score; NaN loses,
// equal scores go to the smaller position. With score=uniform one token of each chunk is drawn. Gather order: logical.
// No parameters.
#include <algorithm>

#include "kernels/top_k/top_k.h"
#include "policies/parts.h"

namespace vase {
namespace {

class Strata final : public Selector {
 public:
  static std::shared_ptr<const Selector> parse(PartOptions&) { return std::make_shared<Strata>(); }

  void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool, RandomDraws&,
              PolicyScratch&, std::span<uint32_t> out) const override {
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t begin = pool.size() * i / out.size(), end = pool.size() * (i + 1) / out.size();
      const std::span<uint32_t> chunk = pool.subspan(begin, end - begin);
      kernels::top_k(scores, head.positions, chunk, 1, true);
      out[i] = chunk[0];
    }
  }
  std::string text() const override { return "strata"; }
};

}  // namespace

const PartEntry<Selector> kStrataPart = {"strata", &Strata::parse, "the largest score of each of S equal chunks",
                                         "control, arXiv 2609.03430"};

}  // namespace vase
