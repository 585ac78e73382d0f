#include <cstring>
#include <memory>

#include "base/huge_buffer.h"
#include "instructions/counted_case.h"
#include "kernels/weight_product/weight_product.h"

namespace vase::bench {
namespace {

using kernels::PackedShape;
using kernels::WeightFormat;

constexpr int kRows = 64, kInputs = 2048;

struct Product {
  Product(WeightFormat format, int columns_in)
      : shape{format, kRows, kInputs},
        columns(columns_in),
        packed(kernels::packed_bytes(shape)),
        activations(kernels::activation_bytes(columns, kInputs)),
        x(made_up_floats(size_t(columns) * kInputs, 1)),
        out(size_t(columns) * kRows) {
    std::memset(packed.data(), 0x35,
                packed.size());  // codes and scales are finite numbers, and no count depends on them
    round();
  }
  void round() {
    kernels::round_activations(kernels::Path::kFused, x.data(), columns, kInputs, 0,
                               kInputs / kernels::kWeightBlock, activations.data());
  }
  void multiply() {
    kernels::weight_product(kernels::Path::kFused, shape, packed.data(), activations.data(), columns, 0,
                            shape.strips(), nullptr, out.data());
  }

  PackedShape shape;
  int columns;
  HugeBuffer packed;
  std::vector<std::byte> activations;
  std::vector<float> x, out;
};

CountedCase product_case(const std::string& name, WeightFormat format, int columns, void (Product::*call)()) {
  return {name, [=]() -> std::function<void()> {
            const auto product = std::make_shared<Product>(format, columns);
            return [product, call] { (product.get()->*call)(); };
          }};
}

}  // namespace

std::vector<CountedCase> product_cases() {
  constexpr std::pair<const char*, WeightFormat> kFormats[] = {{"q4_0", WeightFormat::kQ4_0},
                                                               {"q4_k", WeightFormat::kQ4K},
                                                               {"q8_0", WeightFormat::kQ8_0},
                                                               {"q6_k", WeightFormat::kQ6K}};
  std::vector<CountedCase> cases;
  for (const auto& [format_name, format] : kFormats) {
    for (int columns : {1, 8}) {
      const std::string name = std::string("product_") + format_name + "_columns" + std::to_string(columns);
      cases.push_back(product_case(name, format, columns, &Product::multiply));
    }
  }
  cases.push_back(product_case("round_activations_columns8", WeightFormat::kQ4_0, 8, &Product::round));
  return cases;
}

}  // namespace vase::bench
