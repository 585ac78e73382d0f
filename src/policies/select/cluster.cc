// cluster - one window of the text (arXiv 2609.03430; docs/policies.md 4.7): the run of neighbours, in logical order
// among what is not protected, around the largest score, moved inwards where it would reach over an end. With
// score=uniform the centre is drawn. Gather order: logical. No parameters.
#include <algorithm>

#include "kernels/top_k/top_k.h"
#include "policies/parts.h"

namespace vase {
namespace {

class Cluster final : public Selector {
 public:
  static std::shared_ptr<const Selector> parse(PartOptions&) { return std::make_shared<Cluster>(); }

  void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool, RandomDraws&,
              PolicyScratch&, std::span<uint32_t> out) const override {
    kernels::top_k(scores, head.positions, pool, 1, true);
    const uint32_t centre = pool[0];
    std::sort(pool.begin(), pool.end());
    const size_t at = std::lower_bound(pool.begin(), pool.end(), centre) - pool.begin();
    const size_t first = std::min(at - std::min(at, out.size() / 2), pool.size() - out.size());
    std::copy_n(pool.begin() + first, out.size(), out.begin());
  }
  std::string text() const override { return "cluster"; }
};

}  // namespace

const PartEntry<Selector> kClusterPart = {"cluster", &Cluster::parse, "the S neighbours around the largest score",
                                          "control, arXiv 2609.03430"};

}  // namespace vase
