#include "policies/score/attention.h"

#include "policies/parts.h"

namespace vase {

std::shared_ptr<const Scorer> WindowAttention::parse(PartOptions& options) {
  return std::make_shared<WindowAttention>(WindowForm::parse(options));
}

void WindowAttention::score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const {
  form_.evaluate(head, scratch, out);
}

const PartEntry<Scorer> kAttentionPart = {
    "attention", &WindowAttention::parse, "mean probability that the newest R queries gave, over the candidates",
    "arXiv 2404.14469, 2606.03928", WindowForm::parameters()};

}  // namespace vase
