#include "kernels/leverage/leverage.h"

#include <cstring>

#include "base/half.h"
#include "kernels/leverage/fused.h"

namespace vase::kernels {
namespace {

float element(const RowsView& rows, size_t i, int channel) {
  const auto* at = static_cast<const std::byte*>(rows.row(i)) + channel * row_element_bytes(rows.type);
  if (rows.type == RowType::kF32) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return x;
  }
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return from_half(half);
}

void reference_energy(const RowsView& rows, std::span<const float> gaussian, int columns,
                      std::span<float> energy) {
  for (size_t i = 0; i < energy.size(); ++i) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) {
      double dot = 0;
      for (int k = 0; k < rows.width; ++k) dot += double(element(rows, i, k)) * gaussian[k * columns + c];
      sum += dot * dot;
    }
    energy[i] = static_cast<float>(sum);
  }
}

}  // namespace

void sketched_energy(Path path, const RowsView& rows, std::span<const float> gaussian, int columns,
                     std::span<float> energy) {
  if (path == Path::kReference) {
    reference_energy(rows, gaussian, columns, energy);
  } else {
    fused::sketched_energy(rows, gaussian, columns, energy);
  }
}

void row_energy(const RowsView& rows, std::span<float> energy) { fused::row_energy(rows, energy); }

}  // namespace vase::kernels
