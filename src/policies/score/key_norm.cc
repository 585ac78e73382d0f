// key-norm - keys of small norm stay (Knorm, arXiv 2406.11430; docs/policies.md 4.11): s_j = -|k_j|.
//   keep  small (default) | large: s_j = |k_j|
#include <array>
#include <cmath>

#include "kernels/leverage/leverage.h"
#include "policies/parts.h"
#include "policies/row_numbers.h"

namespace vase {
namespace {

constexpr std::array<std::string_view, 2> kKeepNames = {"small", "large"};

class KeyNorm final : public Scorer {
 public:
  explicit KeyNorm(bool keep_large) : keep_large_(keep_large) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    return std::make_shared<KeyNorm>(options.choice("keep", 0, kKeepNames) == 1);
  }

  PolicyNeeds needs() const override { return {.row_blocks = true}; }
  void score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    row_numbers(head, Row::kKey, out, kernels::row_energy);
    for (float& score : out) score = keep_large_ ? std::sqrt(score) : -std::sqrt(score);
  }
  std::string text() const override { return keep_large_ ? "key-norm:keep=large" : "key-norm"; }

 private:
  bool keep_large_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"keep", "small", "small, large", "which end is worth keeping"},
};

}  // namespace

const PartEntry<Scorer> kKeyNormPart = {"key-norm", &KeyNorm::parse, "minus the norm of the key", "arXiv 2406.11430",
                                        kParameters};

}  // namespace vase
