#include "kernels/rotation/rotation.h"

#include <cmath>

namespace vase::kernels {

void rotation_for(const Rope& rope, double positions, std::span<float> turn) {
  for (size_t f = 0; f < rope.frequencies.size(); ++f) {
    const double angle = positions * rope.frequencies[f];
    turn[2 * f] = static_cast<float>(std::cos(angle));
    turn[2 * f + 1] = static_cast<float>(std::sin(angle));
  }
}

void rotate_row(const Rope& rope, std::span<const float> turn, std::span<float> row) {
  const size_t pairs = rope.frequencies.size();
  for (size_t f = 0; f < pairs; ++f) {
    float& a = row[rope.adjacent ? 2 * f : f];
    float& b = row[rope.adjacent ? 2 * f + 1 : f + pairs];
    const float x = a, y = b, cosine = turn[2 * f], sine = turn[2 * f + 1];
    a = x * cosine - y * sine;
    b = x * sine + y * cosine;
  }
}

}  // namespace vase::kernels
