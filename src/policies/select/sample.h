// sample - weighted draw without replacement, the scores being the weights (VaSE, arXiv 2606.03928;
// docs/policies.md 3.5, 4.17).
// When fewer candidates have a positive weight than are to be kept, the rest is drawn uniformly among the others and
// counted. Gather order: draw order.
//   floor    f: the weight is w_j = s_j + f * mean of the scores (negative and NaN count 0), so that nothing is
//            hopeless; default 0, up to 1000
//   weights  off (default) | on: a survivor stands for those that the draw passed over. Its log-weight b_j, which
//            attention adds to its logit, becomes min(b_j - ln pi_j, cap); pi_j = 1 - exp(-w_j t) is the probability
//            with which it was drawn, t such that the pi add up to the number drawn
//   cap      of a log-weight, default 3, 0 .. 30
#pragma once

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Sample final : public Selector {
 public:
  static constexpr double kDefaultCap = 3;

  explicit Sample(double floor = 0, bool weights = false, double cap = kDefaultCap)
      : floor_(floor), weights_(weights), cap_(cap) {}
  static std::shared_ptr<const Selector> parse(PartOptions& options);

  PolicyNeeds needs() const override { return {.log_weight = weights_, .draws = true}; }
  void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
              RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const override;
  std::string text() const override;

 private:
  void carry_weights(std::span<const float> weights, std::span<const uint32_t> pool, std::span<const uint32_t> drawn,
                     PolicyScratch& scratch) const;

  double floor_;
  bool weights_;
  double cap_;
};

}  // namespace vase
