// leverage - approximate CUR leverage of key and value (CurDKV, arXiv 2509.15038; resampled: VaSE-DKV, arXiv
// 2606.03928; docs/policies.md 3.9, 4.3):
// s_j = |k_j^T G|^2 |v_j^T G|^2 / sum over the candidates, G ~ N(0,1)^{d x r}, the same for
// keys, values and all heads of a layer. The usual factor 1/r of G's variance cancels in the division.
//   sketch    r: columns of G, default 20, 1 .. 64; or off: exact norms, the limit of large r
//   resample  on (default): a new G at every eviction | off: one G per sequence and layer (CurDKV)
//   window    0 (default) | n candidates: both energies are first divided by their sums over every n candidates in
//             a row, in logical order, the last window being shorter (16 in kvpress)
//   combine   product (default) | key | value | mean: which energies make the score
#pragma once

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Leverage final : public Scorer {
 public:
  static constexpr int kDefaultSketch = 20, kMaxSketch = 64;
  enum class Combine { kProduct, kKey, kValue, kMean };

  // sketch 0: exact norms. window 0: none.
  Leverage(int sketch, bool resample, int window = 0, Combine combine = Combine::kProduct)
      : sketch_(sketch), resample_(resample), window_(window), combine_(combine) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options);

  PolicyNeeds needs() const override { return {.row_blocks = true, .draws = sketch_ > 0}; }
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override;

 private:
  void energies(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> keys,
                std::span<float> values) const;

  int sketch_;
  bool resample_;
  int window_;
  Combine combine_;
};

}  // namespace vase
