#include "policies/score/leverage.h"

#include "kernels/leverage/leverage.h"
#include "policies/parts.h"

namespace vase {
namespace {

// out_j <- a_j b_j / sum, in double: squared norms of large rows overflow a float's product.
void normalised_product(std::span<const float> a, std::span<float> out) {
  double sum = 0;
  for (size_t j = 0; j < out.size(); ++j) sum += static_cast<double>(a[j]) * out[j];
  const double factor = sum > 0 ? 1 / sum : 1;  // all zero stays all zero
  for (size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(static_cast<double>(a[j]) * out[j] * factor);
}

}  // namespace

std::shared_ptr<const Scorer> Leverage::parse(PartOptions& options) {
  const int sketch = options.off("sketch") ? 0 : options.integer("sketch", kDefaultSketch, 1, kMaxSketch);
  return std::make_shared<Leverage>(sketch, options.on_off("resample", true));
}

void Leverage::score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const {
  const auto key_energy = std::span(scratch.energy).first(head.candidates());
  if (sketch_ == 0) {
    kernels::row_energy(head.keys, key_energy);
    kernels::row_energy(head.values, out);
  } else {
    const auto gaussian = std::span(scratch.gaussian).first(static_cast<size_t>(head.keys.width) * sketch_);
    draws.gaussian(resample_, gaussian);
    kernels::sketched_energy(kernels::Path::kFused, head.keys, gaussian, sketch_, key_energy);
    kernels::sketched_energy(kernels::Path::kFused, head.values, gaussian, sketch_, out);
  }
  normalised_product(key_energy, out);
}

std::string Leverage::text() const {
  if (sketch_ == 0) return "leverage:sketch=off";
  return "leverage:sketch=" + std::to_string(sketch_) + ",resample=" + (resample_ ? "on" : "off");
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"sketch", "20", "1 to 64 columns, off",
     "columns of G; off takes the exact norms"},
    {"resample", "on", "on, off",
     "a new G at every eviction, or one for the sequence"},
};

}  // namespace

const PartEntry<Scorer> kLeveragePart = {
    "leverage", &Leverage::parse,
    "|k G|^2 |v G|^2, G Gaussian: approximate CUR leverage", "arXiv 2509.15038, 2606.03928", kParameters};

}  // namespace vase
