#include "policies/protect/value.h"

#include "policies/magnitude.h"
#include "policies/parts.h"
#include "policies/protect/fill.h"

namespace vase {

std::shared_ptr<const Protector> LargeValues::parse(PartOptions& options) {
  const Amount size = options.amount("", {true, 25});
  return std::make_shared<LargeValues>(size, kernels::Magnitude(options.choice("measure", 0, kMagnitudeNames)));
}

PolicyNeeds LargeValues::needs() const { return magnitude_needs(measure_); }

void LargeValues::claim(const HeadView& head, RandomDraws&, PolicyScratch& scratch, Claims& claims) const {
  const auto magnitudes = std::span(scratch.energy).first(head.candidates());
  value_magnitudes(measure_, head, scratch, magnitudes);
  fill_claims(head, size_, magnitudes, scratch, claims);
}

std::string LargeValues::text() const {
  std::string text = "value:" + size_.text();
  if (measure_ != kernels::Magnitude::kRange) (text += ",measure=") += kMagnitudeNames[static_cast<size_t>(measure_)];
  return text;
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"", "25%", "tokens, or 0% to 100% of M",
     "N, the size of the protected set that the rule leaves behind"},
    {"measure", "range", "range, var, l2, absmax",
     "magnitude of a value"},
};

}  // namespace

const PartEntry<Protector> kValueRule = {
    "value", &LargeValues::parse,
    "the largest values, by max - min over the channels; sinks count in N", "arXiv 2606.03928", kParameters};

}  // namespace vase
