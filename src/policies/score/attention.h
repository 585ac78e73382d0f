// attention - mean probability that the last W queries of the group gave to each candidate (SnapKV, arXiv 2404.14469,
// in the decode form of arXiv 2606.03928; docs/policies.md 3.1, 3.2, 4.4):
//   A_j = 1/(W G) sum_{w,g} softmax over candidates (q_w^g . k_j / sqrt d), then averaged over 5 neighbours.
//   smooth   on (default) | off
//   divisor  valid (default): neighbours that exist | fixed: always 5, as the authors' code, which lowers both edges
#pragma once

#include "kernels/smoothing/smoothing.h"
#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class WindowAttention final : public Scorer {
 public:
  WindowAttention(bool smooth, kernels::Divisor divisor) : smooth_(smooth), divisor_(divisor) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options);

  PolicyNeeds needs() const override { return {.attention = AttentionRecord::kWindowSum}; }
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override;

 private:
  bool smooth_;
  kernels::Divisor divisor_;
};

}  // namespace vase
