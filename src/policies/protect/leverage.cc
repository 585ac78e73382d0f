#include "policies/protect/leverage.h"

#include "policies/parts.h"
#include "policies/protect/fill.h"

namespace vase {

std::shared_ptr<const Protector> LargeLeverage::parse(PartOptions& options) {
  return std::make_shared<LargeLeverage>(options.amount("", {true, 50}));
}

void LargeLeverage::claim(const HeadView& head, RandomDraws&, PolicyScratch& scratch, Claims& claims) const {
  fill_claims(head, size_, head.norm_product, scratch, claims);
}

std::string LargeLeverage::text() const { return "leverage:" + size_.text(); }

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"", "50%", "tokens, or 0% to 100% of M",
     "N, the size of the protected set that the rule leaves behind"},
};

}  // namespace

const PartEntry<Protector> kLeverageRule = {
    "leverage", &LargeLeverage::parse,
    "the largest |k| |v|; sinks count in N", "our own", kParameters};

}  // namespace vase
