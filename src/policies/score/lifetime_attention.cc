// lifetime-attention - all attention that a token has received (H2O, arXiv 2306.14048; docs/policies.md 4.9):
//   s_j = sum over every query since token j was appended, prompt included, and over the G heads of the group, of p_j,
// p the softmax over all slots used at that time. Accumulated at every step; what is evicted takes its sum with it.
// The original has one query head per KV head and so no sum over a group.
//   average  off (default) | on: s_j divided by the number of those probabilities, so that old tokens have no head
//            start (kvpress's observed attention)
#include <algorithm>

#include "policies/parts.h"

namespace vase {
namespace {

class LifetimeAttention final : public Scorer {
 public:
  explicit LifetimeAttention(bool average) : average_(average) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    return std::make_shared<LifetimeAttention>(options.on_off("average", false));
  }

  PolicyNeeds needs() const override { return {.attention = AttentionRecord::kLifetimeSum}; }
  void score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    std::copy(head.attention.begin(), head.attention.end(), out.begin());
    if (!average_) return;
    for (size_t j = 0; j < out.size(); ++j) {
      out[j] /= static_cast<float>((head.seen - head.positions[j]) * head.group);  // its own query counts
    }
  }
  std::string text() const override { return average_ ? "lifetime-attention:average=on" : "lifetime-attention"; }

 private:
  bool average_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"average", "off", "on, off", "divided by the number of queries since the token came"},
};

}  // namespace

const PartEntry<Scorer> kLifetimeAttentionPart = {"lifetime-attention", &LifetimeAttention::parse,
                                                  "sum of the probabilities of all queries since the token came",
                                                  "arXiv 2306.14048", kParameters};

}  // namespace vase
