// Row energies on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/leverage/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/leverage/fused.h"
#include "kernels/leverage/sketch-inl.h"
#include "kernels/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // one lane holds no quad
template <class T>
HWY_INLINE void energies(const RowsView& rows, const float* gaussian, int groups, int columns, float* energy, size_t count,
                         size_t stride) {
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    const Row<T> row(rows.row(i));
    for (int g = 0; g < groups; ++g) energy[g * stride + i] = 0;
    for (int c = 0; c < groups * columns; ++c) {
      float dot = 0;
      for (int k = 0; k < rows.width; ++k) {
        dot += hn::GetLane(row.load(d, k)) * gaussian[size_t(k) * groups * columns + c];
      }
      energy[c / columns * stride + i] += dot * dot;
    }
  }
}

void SketchedEnergies(const RowsView& rows, const float* gaussian, int groups, int columns, float* energy, size_t count,
                      size_t stride) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    energies<typename decltype(element)::Type>(rows, gaussian, groups, columns, energy, count, stride);
  });
}
#else
// f(first, count) for vectors of columns in runs of nearly the same length.
template <class F>
HWY_INLINE void for_passes(int vectors, const F& f) {
  const int passes = (vectors + kMaxVectors - 1) / kMaxVectors;
  for (int pass = 0, first = 0; pass < passes; ++pass) {
    const int count = (vectors - first) / (passes - pass);
    f(first, count);
    first += count;
  }
}

// The products of a panel of `count` rows with all columns, added to sums[quad][vector]. A tile's rows are decoded once for
// all columns. The last row is repeated to a full tile.
template <class T>
HWY_INLINE void sum_panel(const RowsView& rows, size_t row0, int count, const Columns& columns, float* sums) {
  HWY_ALIGN float table[kTable], woven[kQuadTile * kBlock * kQuad];
  const int padded = padded_row(rows.width), block = columns.block();
  const size_t stride = columns.vectors() * kLanes;
  const auto row = [&](int i) HWY_ATTR { return Row<T>(rows.row(row0 + std::min(i, count - 1))); };
  for (int begin = 0; begin < padded; begin += block) {
    const int channels = std::min(block, padded - begin);
    for_passes(columns.vectors(), [&](int first, int size) HWY_ATTR {
      spread_gaussian(columns, first, size, begin, channels, table + first * channels * kLanes);
    });
    for (int i = 0; i < count; i += Ahead::kRows) {
      Ahead ahead{.lines = Ahead::kRows * channels * int(sizeof(T)) / 64};
      for (int j = 0; j < Ahead::kRows; ++j) {
        ahead.row[j] = row(i + Ahead::kRows + j).address(begin);
      }
      for (int q = 0; q < kQuadTile; ++q) {
        const int r = i + q * kQuad;
        weave<T>({row(r), row(r + 1), row(r + 2), row(r + 3)}, begin, channels, woven + q * kBlock * kQuad);
      }
      float* const tile_sums = sums + i / kQuad * stride;
      for_passes(columns.vectors(), [&](int first, int size) HWY_ATTR {
        sketch_tile_of(size, woven, table + first * channels * kLanes, channels, tile_sums + first * kLanes, stride, ahead);
        ahead.lines = 0;
      });
    }
  }
}

template <class T>
HWY_NOINLINE void energies(const RowsView& rows, const Columns& columns, float* energy, size_t count, size_t stride) {
  HWY_ALIGN float sums[kPanel * kPanelVectors * kLanes];
  const int vectors = columns.vectors_of_group(), floats_of_quad = columns.vectors() * kLanes;
  for (size_t row0 = 0; row0 < count; row0 += kPanel * kQuad) {
    const int n = static_cast<int>(std::min<size_t>(kPanel * kQuad, count - row0));
    std::fill_n(sums, kPanel * floats_of_quad, 0.0f);
    sum_panel<T>(rows, row0, n, columns, sums);
    for (int i = 0; i < n; i += kQuad) {
      for (int g = 0; g < columns.groups; ++g) {
        HWY_ALIGN float quad[kQuad];
        quad_energy(sums + i / kQuad * floats_of_quad + g * vectors * kLanes, vectors, quad);
        std::copy_n(quad, std::min(kQuad, n - i), energy + g * stride + row0 + i);
      }
    }
  }
}

void SketchedEnergies(const RowsView& rows, const float* gaussian, int groups, int columns, float* energy, size_t count,
                      size_t stride) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    energies<typename decltype(element)::Type>(rows, {gaussian, rows.width, groups, columns}, energy, count, stride);
  });
}
#endif

template <class T>
HWY_INLINE void add_squares(const RowsView& rows, float* energy, size_t count) {
  constexpr size_t kAhead = 8;
  const F32 d;
  const int padded = padded_row(rows.width);
  for (size_t i = 0; i < count; ++i) {
    fetch_row<T>(rows.row(std::min(i + kAhead, count - 1)), padded);
    const Row<T> row(rows.row(i));
    F32V sum = hn::Zero(d);
    for (int c = 0; c < rows.width; c += kLanes) {
      const F32V x = row.load(d, c);
      sum = hn::MulAdd(x, x, sum);
    }
    energy[i] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

void RowEnergy(const RowsView& rows, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    add_squares<typename decltype(element)::Type>(rows, energy, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(SketchedEnergies);
HWY_EXPORT(RowEnergy);

void sketched_energies(const RowsView& rows, std::span<const float> gaussian, int groups, int columns, float* energy,
                       size_t count, size_t stride) {
  HWY_DYNAMIC_DISPATCH(SketchedEnergies)(rows, gaussian.data(), groups, columns, energy, count, stride);
}

void row_energy(const RowsView& rows, std::span<float> energy) {
  HWY_DYNAMIC_DISPATCH(RowEnergy)(rows, energy.data(), energy.size());
}

}  // namespace vase::kernels::fused
#endif
