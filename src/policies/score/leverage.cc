#include "policies/score/leverage.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/leverage/leverage.h"
#include "policies/parts.h"
#include "policies/row_numbers.h"

namespace vase {
namespace {

static_assert(Leverage::kMaxSketch <= kernels::kMaxSketch);

constexpr std::array<std::string_view, 4> kCombineNames = {"product", "key", "value", "mean"};

// Divides by the sum over each window, where that is positive.
void normalise_windows(std::span<float> energy, size_t window) {
  for (size_t first = 0; first < energy.size(); first += window) {
    const auto part = energy.subspan(first, std::min(window, energy.size() - first));
    const double sum = std::accumulate(part.begin(), part.end(), 0.0);
    if (!(sum > 0)) continue;
    for (float& x : part) x = static_cast<float>(x / sum);
  }
}

double combined(Leverage::Combine combine, double key, double value) {
  switch (combine) {
    case Leverage::Combine::kKey:
      return key;
    case Leverage::Combine::kValue:
      return value;
    case Leverage::Combine::kMean:
      return (key + value) / 2;
    case Leverage::Combine::kProduct:
      break;
  }
  return key * value;  // in double: squared norms of large rows overflow a float's product
}

}  // namespace

std::shared_ptr<const Scorer> Leverage::parse(PartOptions& options) {
  const int sketch = options.off("sketch") ? 0 : options.integer("sketch", kDefaultSketch, 1, kMaxSketch);
  const bool resample = options.on_off("resample", true);
  const int window = options.integer("window", 0, 0, PartOptions::kMaxTokens);
  return std::make_shared<Leverage>(sketch, resample, window, Combine(options.choice("combine", 0, kCombineNames)));
}

void Leverage::energies(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> keys,
                        std::span<float> values) const {
  if (sketch_ == 0) {
    row_numbers(head, Row::kKey, keys, kernels::row_energy);
    row_numbers(head, Row::kValue, values, kernels::row_energy);
    return;
  }
  const size_t size = static_cast<size_t>(head.keys.width) * sketch_;
  const auto gaussian = std::span(scratch.gaussian).first(size + kernels::kSketchTail);
  draws.gaussian(resample_, gaussian.first(size));
  const auto energy = [&](const RowsView& rows, std::span<float> some) {
    kernels::sketched_energy(kernels::Path::kFused, rows, gaussian, sketch_, some);
  };
  row_numbers(head, Row::kKey, keys, energy);
  row_numbers(head, Row::kValue, values, energy);
}

void Leverage::score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const {
  const auto keys = std::span(scratch.energy).first(head.candidates());
  energies(head, draws, scratch, keys, out);
  if (window_ > 0) {
    normalise_windows(keys, window_);
    normalise_windows(out, window_);
  }
  double sum = 0;
  for (size_t j = 0; j < out.size(); ++j) sum += combined(combine_, keys[j], out[j]);
  const double factor = sum > 0 ? 1 / sum : 1;  // all zero stays all zero
  for (size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(combined(combine_, keys[j], out[j]) * factor);
}

std::string Leverage::text() const {
  std::string text = "leverage:sketch=off";
  if (sketch_ > 0) text = "leverage:sketch=" + std::to_string(sketch_) + ",resample=" + (resample_ ? "on" : "off");
  if (window_ > 0) text += ",window=" + std::to_string(window_);
  if (combine_ != Combine::kProduct) (text += ",combine=") += kCombineNames[static_cast<size_t>(combine_)];
  return text;
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"sketch", "20", "1 to 64 columns, off",
     "columns of G; off takes the exact norms"},
    {"resample", "on", "on, off",
     "a new G at every eviction, or one for the sequence"},
    {"window", "0", "0 to 1048576 candidates",
     "energies are divided by their sums over every so many candidates; 0: over none"},
    {"combine", "product", "product, key, value, mean",
     "which energies make the score"},
};

}  // namespace

const PartEntry<Scorer> kLeveragePart = {
    "leverage", &Leverage::parse,
    "|k G|^2 |v G|^2, G Gaussian: approximate CUR leverage", "arXiv 2509.15038, 2606.03928", kParameters};

}  // namespace vase
