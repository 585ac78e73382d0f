#include "policies/score/attention.h"

#include <algorithm>
#include <array>

#include "policies/parts.h"

namespace vase {
namespace {

constexpr std::array<std::string_view, 2> kDivisorNames = {"valid", "fixed"};  // in the order of kernels::Divisor

}  // namespace

std::shared_ptr<const Scorer> WindowAttention::parse(PartOptions& options) {
  const bool smooth = options.on_off("smooth", true);
  const auto divisor = kernels::Divisor(options.choice("divisor", 0, kDivisorNames));
  return std::make_shared<WindowAttention>(smooth, divisor);
}

void WindowAttention::score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const {
  if (smooth_) {
    kernels::smooth5(head.attention, divisor_, out);
  } else {
    std::copy(head.attention.begin(), head.attention.end(), out.begin());
  }
  for (float& score : out) score /= head.attention_rows;
}

std::string WindowAttention::text() const {
  if (!smooth_) return "attention:smooth=off";
  return divisor_ == kernels::Divisor::kFixed ? "attention:divisor=fixed" : "attention";
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"smooth", "on", "on, off",
     "average over 5 neighbours"},
    {"divisor", "valid", "valid, fixed",
     "of the average: neighbours that exist, or always 5"},
};

}  // namespace

const PartEntry<Scorer> kAttentionPart = {
    "attention", &WindowAttention::parse,
    "mean probability that the newest R queries gave, over the candidates", "arXiv 2404.14469, 2606.03928", kParameters};

}  // namespace vase
