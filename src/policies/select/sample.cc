#include "policies/select/sample.h"

#include <algorithm>

#include "kernels/weighted_draw/weighted_draw.h"
#include "policies/parts.h"

namespace vase {

void Sample::select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
                    RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const {
  const auto exponentials = std::span(scratch.draws).first(head.candidates());
  draws.exponential(head.positions, exponentials);
  scratch.weightless_draws += kernels::weighted_draw(scores, exponentials, head.positions, pool,
                                                     static_cast<int>(out.size()), ordered, scratch.keys);
  std::copy_n(pool.begin(), out.size(), out.begin());
}

const PartEntry<Selector> kSamplePart = {
    "sample", &Sample::parse,
    "weighted draw without replacement, the scores being the weights", "arXiv 2606.03928"};

}  // namespace vase
