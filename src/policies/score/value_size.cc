#include "policies/score/value_size.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/top_k/top_k.h"
#include "policies/magnitude.h"
#include "policies/parts.h"

namespace vase {
namespace {

constexpr std::array<std::string_view, 2> kKeepNames = {"large", "small"};

}  // namespace

std::shared_ptr<const Scorer> ValueSize::parse(PartOptions& options) {
  const auto measure = kernels::Magnitude(options.choice("measure", 0, kMagnitudeNames));
  const bool keep_small = options.choice("keep", 0, kKeepNames) == 1;
  return std::make_shared<ValueSize>(measure, keep_small, options.amount("top", {}));
}

PolicyNeeds ValueSize::needs() const { return magnitude_needs(measure_); }

void ValueSize::score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const {
  value_magnitudes(measure_, head, scratch, out);
  if (keep_small_) {
    for (float& score : out) score = -score;
  }
  if (top_.value == 0) return;
  const auto pool = std::span(scratch.pool).first(out.size());
  const size_t count = std::min<size_t>(top_.tokens(head.budget), out.size());
  std::iota(pool.begin(), pool.end(), 0u);
  kernels::top_k(out, head.positions, pool, static_cast<int>(count), false);
  std::fill(out.begin(), out.end(), 0.0f);
  for (uint32_t candidate : pool.first(count)) out[candidate] = 1;
}

std::string ValueSize::text() const {
  std::string text = "value:measure=" + std::string(kMagnitudeNames[static_cast<size_t>(measure_)]);
  if (keep_small_) text += ",keep=small";
  return top_.value == 0 ? text : text + ",top=" + top_.text();
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"measure", "range", "range, var, l2, absmax",
     "magnitude of a value"},
    {"keep", "large", "large, small",
     "which end is worth keeping"},
    {"top", "0", "tokens, or 0% to 100% of M",
     "N: 1 for the N best and 0 for the others; 0: the magnitude itself"},
};

}  // namespace

const PartEntry<Scorer> kValuePart = {
    "value", &ValueSize::parse,
    "magnitude of the value", "arXiv 2606.03928", kParameters};

}  // namespace vase
