// lifetime-attention - all attention that a token has received (H2O, arXiv 2306.14048; docs/policies.md 4.9):
//   s_j = sum over every query since token j was appended, prompt included, and over the G heads of the group, of p_j,
// p the softmax over all slots used at that time. Accumulated at every step; what is evicted takes its sum with it.
// The original has one query head per KV head and so no sum over a group. No parameters.
#include <algorithm>

#include "policies/parts.h"

namespace vase {
namespace {

class LifetimeAttention final : public Scorer {
 public:
  static std::shared_ptr<const Scorer> parse(PartOptions&) { return std::make_shared<LifetimeAttention>(); }

  PolicyNeeds needs() const override { return {.attention = AttentionRecord::kLifetimeSum}; }
  void score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    std::copy(head.attention.begin(), head.attention.end(), out.begin());
  }
  std::string text() const override { return "lifetime-attention"; }
};

}  // namespace

const PartEntry<Scorer> kLifetimeAttentionPart = {"lifetime-attention", &LifetimeAttention::parse,
                                                  "sum of the probabilities of all queries since the token came",
                                                  "arXiv 2306.14048"};

}  // namespace vase
