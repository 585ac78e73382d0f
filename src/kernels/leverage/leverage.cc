#include "kernels/leverage/leverage.h"

#include "kernels/leverage/fused.h"
#include "kernels/row_element.h"

namespace vase::kernels {
namespace {

void reference_energies(const RowsView& rows, std::span<const float> gaussian, int groups, int columns, float* energy,
                        size_t count, size_t stride) {
  for (size_t i = 0; i < count; ++i) {
    for (int g = 0; g < groups; ++g) {
      double sum = 0;
      for (int c = g * columns; c < (g + 1) * columns; ++c) {
        double dot = 0;
        for (int k = 0; k < rows.width; ++k) dot += double(row_element(rows, i, k)) * gaussian[k * groups * columns + c];
        sum += dot * dot;
      }
      energy[g * stride + i] = static_cast<float>(sum);
    }
  }
}

}  // namespace

void sketched_energies(Path path, const RowsView& rows, std::span<const float> gaussian, int groups, int columns,
                       float* energy, size_t count, size_t stride) {
  (path == Path::kReference ? reference_energies : fused::sketched_energies)(rows, gaussian, groups, columns, energy, count,
                                                                             stride);
}

void sketched_energy(Path path, const RowsView& rows, std::span<const float> gaussian, int columns,
                     std::span<float> energy) {
  sketched_energies(path, rows, gaussian, 1, columns, energy.data(), energy.size(), energy.size());
}

void row_energy(const RowsView& rows, std::span<float> energy) { fused::row_energy(rows, energy); }

}  // namespace vase::kernels
