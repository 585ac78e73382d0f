#include "policies/score/value_size.h"

#include <array>

#include "policies/magnitude.h"
#include "policies/parts.h"

namespace vase {
namespace {

constexpr std::array<std::string_view, 2> kKeepNames = {"large", "small"};

}  // namespace

std::shared_ptr<const Scorer> ValueSize::parse(PartOptions& options) {
  const auto measure = kernels::Magnitude(options.choice("measure", 0, kMagnitudeNames));
  return std::make_shared<ValueSize>(measure, options.choice("keep", 0, kKeepNames) == 1);
}

PolicyNeeds ValueSize::needs() const { return magnitude_needs(measure_); }

void ValueSize::score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const {
  value_magnitudes(measure_, head, scratch, out);
  if (!keep_small_) return;
  for (float& score : out) score = -score;
}

std::string ValueSize::text() const {
  std::string text = "value:measure=" + std::string(kMagnitudeNames[static_cast<size_t>(measure_)]);
  return keep_small_ ? text + ",keep=small" : text;
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"measure", "range", "range, var, l2, absmax",
     "magnitude of a value"},
    {"keep", "large", "large, small",
     "which end is worth keeping"},
};

}  // namespace

const PartEntry<Scorer> kValuePart = {
    "value", &ValueSize::parse,
    "magnitude of the value", "arXiv 2606.03928", kParameters};

}  // namespace vase
