#include "policies/protect/chance.h"

#include "policies/parts.h"
#include "policies/protect/fill.h"

namespace vase {

std::shared_ptr<const Protector> Chance::parse(PartOptions& options) {
  return std::make_shared<Chance>(options.amount("", {true, 25}));
}

void Chance::claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const {
  const auto rank = std::span(scratch.draws).first(head.candidates());
  draws.uniform(head.positions, rank);
  fill_claims(head, size_, rank, scratch, claims);
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"", "25%", "tokens, or 0% to 100% of M",
     "N, the size of the protected set that the rule leaves behind"},
};

}  // namespace

const PartEntry<Protector> kRandomRule = {
    "random", &Chance::parse,
    "tokens chosen uniformly, anew at every eviction", "control", kParameters};

}  // namespace vase
