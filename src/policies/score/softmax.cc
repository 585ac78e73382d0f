#include "policies/score/softmax.h"

#include <algorithm>
#include <cmath>

namespace vase {

void softmax(std::span<float> x) {
  if (x.empty()) return;
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (float value : x) sum += std::exp(value - largest);
  for (float& value : x) value = static_cast<float>(std::exp(value - largest) / sum);
}

}  // namespace vase
