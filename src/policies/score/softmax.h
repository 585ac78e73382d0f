// Softmax over scores.
#pragma once

#include <span>

namespace vase {

// x_j <- exp(x_j) / sum_i exp(x_i), in double. One NaN makes all NaN.
void softmax(std::span<float> x);

}  // namespace vase
