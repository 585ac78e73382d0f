#include "policies/select/top.h"

#include <algorithm>

#include "kernels/top_k/top_k.h"
#include "policies/parts.h"

namespace vase {

void Top::select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
                 RandomDraws&, PolicyScratch&, std::span<uint32_t> out) const {
  kernels::top_k(scores, head.positions, pool, static_cast<int>(out.size()), ordered);
  std::copy_n(pool.begin(), out.size(), out.begin());
}

const PartEntry<Selector> kTopPart = {
    "top", &Top::parse,
    "the largest scores; equal ones by smaller position", "arXiv 2404.14469"};

}  // namespace vase
