// recurrence - whether the next use of a token is due (LazyEviction, arXiv 2506.15969; docs/policies.md 4.14):
//   s_j = H1 + H2, H1 = 2 sigmoid(-(t - TS_j) / MRI_j), H2 = 2 sigmoid(-1 / MRI_j); 0 while MRI_j = 0
// t is the newest token's position, TS_j the last token one of whose heads gave p_j >= threshold, MRI_j the longest gap
// between two such tokens so far, p the softmax over all slots used. The sum of H1 and H2 is assumed: the paper's exact
// combination is not public.
//   threshold  of p, 0 to 1, default 1e-4
#include <cmath>

#include "policies/parts.h"

namespace vase {
namespace {

double twice_sigmoid_of_minus(double x) { return 2 / (1 + std::exp(x)); }

class Recurrence final : public Scorer {
 public:
  explicit Recurrence(double threshold) : threshold_(threshold) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    return std::make_shared<Recurrence>(options.real("threshold", kDefaultThreshold, 0, 1));
  }

  PolicyNeeds needs() const override {
    return {.attention = AttentionRecord::kRecurrence, .threshold = static_cast<float>(threshold_)};
  }

  void score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    for (size_t j = 0; j < out.size(); ++j) {
      const double gap = head.longest_gap[j];
      const double idle = static_cast<double>(head.seen - 1 - head.last_use[j]);
      out[j] =
          gap > 0 ? static_cast<float>(twice_sigmoid_of_minus(idle / gap) + twice_sigmoid_of_minus(1 / gap)) : 0.0f;
    }
  }

  std::string text() const override {
    return threshold_ == kDefaultThreshold ? "recurrence" : "recurrence:threshold=" + shortest(threshold_);
  }

 private:
  static constexpr double kDefaultThreshold = 1e-4;
  double threshold_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"threshold", "1e-4", "0 to 1", "probability from which on a token counts as used"},
};

}  // namespace

const PartEntry<Scorer> kRecurrencePart = {
    "recurrence", &Recurrence::parse, "2 sigmoid(-idle / gap) + 2 sigmoid(-1 / gap), gap the longest between two uses",
    "arXiv 2506.15969; sum assumed", kParameters};

}  // namespace vase
