#include "policies/protect/sinks.h"

#include "policies/parts.h"
#include "policies/protect/position_range.h"

namespace vase {

std::shared_ptr<const Protector> Sinks::parse(PartOptions& options) {
  return std::make_shared<Sinks>(options.integer("", kDefaultTokens, 0, PartOptions::kMaxTokens));
}

void Sinks::claim(const HeadView& head, RandomDraws&, PolicyScratch& scratch, Claims& claims) const {
  for (uint32_t candidate : candidates_between(head, 0, tokens_, scratch)) {
    if (!claims.add(candidate)) claims.mark_truncated();
  }
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"", "4", "0 to 1048576 tokens",
     "N"},
};

}  // namespace

const PartEntry<Protector> kSinksPart = {
    "sinks", &Sinks::parse,
    "the first N tokens of the text", "arXiv 2309.17453", kParameters};

}  // namespace vase
