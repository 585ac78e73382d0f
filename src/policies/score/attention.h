// attention - probability that the last W queries of the group gave to each candidate (SnapKV, arXiv 2404.14469, in the
// decode form of arXiv 2606.03928; docs/policies.md 3.1, 3.2, 4.4):
//   A_j = 1/(W G) sum_{w,g} softmax over candidates (q_w^g . k_j / sqrt d), then averaged over 5 neighbours.
// With form=rms or max the root mean square or the largest of the W G probabilities (docs/policies.md 4.17).
// Options: window_form.h.
#pragma once

#include "policies/score/window_form.h"

namespace vase {

class WindowAttention final : public Scorer {
 public:
  explicit WindowAttention(const WindowForm& form) : form_(form) {}
  WindowAttention(bool smooth, kernels::Divisor divisor) : form_{.smooth = smooth, .divisor = divisor} {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options);

  PolicyNeeds needs() const override { return form_.needs(); }
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override { return form_.text("attention"); }

 private:
  WindowForm form_;
};

}  // namespace vase
