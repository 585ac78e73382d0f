// uniform - one U[0,1) per candidate and eviction: evicts at random (Random Attention, arXiv 2609.03430;
// docs/policies.md 4.7). The control that any score must beat.
//   block  candidates in a row, in logical order, that share a number; default 1
#include <algorithm>

#include "policies/parts.h"

namespace vase {
namespace {

class Uniform final : public Scorer {
 public:
  explicit Uniform(int block) : block_(block) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    return std::make_shared<Uniform>(options.integer("block", 1, 1, PartOptions::kMaxTokens));
  }

  PolicyNeeds needs() const override { return {.draws = true}; }
  // A block has the number of its first candidate.
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch&, std::span<float> out) const override {
    draws.uniform(head.positions, out);
    if (block_ == 1) return;
    for (size_t first = 0; first < out.size(); first += block_) {
      const auto block = out.subspan(first, std::min<size_t>(block_, out.size() - first));
      std::fill(block.begin(), block.end(), block[0]);
    }
  }
  std::string text() const override { return block_ == 1 ? "uniform" : "uniform:block=" + std::to_string(block_); }

 private:
  int block_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"block", "1", "1 to 1048576 candidates", "candidates in a row that share a number"},
};

}  // namespace

const PartEntry<Scorer> kUniformPart = {"uniform", &Uniform::parse, "one uniform number per candidate and eviction",
                                        "control, arXiv 2609.03430", kParameters};

}  // namespace vase
