// caote - how far the attention output moves when the candidate goes (CAOTE, as in arXiv 2609.03430;
// docs/policies.md 4.7):
//   a_j = A_j clamped to [1e-6, 1 - 1e-6], o = sum_i a_i v_i over the candidates, score a_j / (1 - a_j) |v_j - o|_2,
// A_j the window attention of `attention`, with its options (window_form.h).
#include <algorithm>

#include "kernels/row_distance/row_distance.h"
#include "policies/parts.h"
#include "policies/score/window_form.h"

namespace vase {
namespace {

constexpr float kLeast = 1e-6f;  // of a_j, and of 1 - a_j

class Caote final : public Scorer {
 public:
  explicit Caote(const WindowForm& form) : form_(form) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    return std::make_shared<Caote>(WindowForm::parse(options));
  }

  PolicyNeeds needs() const override {
    PolicyNeeds needs = form_.needs();
    needs.rows = true;
    return needs;
  }

  void score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const override {
    form_.evaluate(head, scratch, out);
    for (float& a : out) a = std::clamp(a, kLeast, 1 - kLeast);  // NaN stays NaN
    const auto output = std::span(scratch.row).first(padded_row(head.values.width));
    const auto distance = std::span(scratch.energy).first(out.size());
    kernels::weighted_row_sum(kernels::Path::kFused, head.values, out, output);
    kernels::row_distance(kernels::Path::kFused, head.values, output, distance);
    for (size_t j = 0; j < out.size(); ++j) out[j] = out[j] / (1 - out[j]) * distance[j];
  }

  std::string text() const override { return form_.text("caote"); }

 private:
  WindowForm form_;
};

}  // namespace

const PartEntry<Scorer> kCaotePart = {
    "caote", &Caote::parse, "a/(1-a) |v - o|, a window attention, o = sum of a v: change of the attention output",
    "CAOTE; arXiv 2609.03430", WindowForm::parameters()};

}  // namespace vase
