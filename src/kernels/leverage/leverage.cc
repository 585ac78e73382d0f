#include "kernels/leverage/leverage.h"

#include "kernels/leverage/fused.h"
#include "kernels/row_element.h"

namespace vase::kernels {
namespace {

void reference_energy(const RowsView& rows, std::span<const float> gaussian, int columns,
                      std::span<float> energy) {
  for (size_t i = 0; i < energy.size(); ++i) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) {
      double dot = 0;
      for (int k = 0; k < rows.width; ++k) dot += double(row_element(rows, i, k)) * gaussian[k * columns + c];
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
