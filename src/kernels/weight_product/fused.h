// The Highway path of weight_product.h.
#pragma once

#include "kernels/weight_product/weight_product.h"

namespace vase::kernels::fused {

void round_activations(const float* x, int columns, int inputs, int first, int last, std::byte* out);
void weight_product(const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns, int first,
                    int last, const float* bias, float* out);

}  // namespace vase::kernels::fused
