// Row energies on Highway. Four rows at a time share every load of G.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/leverage/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/leverage/fused.h"
#include "kernels/rows-inl.h"
#include "kernels/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::HWY_NAMESPACE::F32;
using kernels::HWY_NAMESPACE::F32V;
using kernels::HWY_NAMESPACE::kLanes;
using kernels::HWY_NAMESPACE::load_row;
inline constexpr int kRowTile = 4;
inline constexpr int kColumnTile = 2;  // vectors of columns
inline constexpr int kBlock = 128;     // channels decoded at a time

// G [head_dim][columns]; columns behind the last one read as 0.
struct Sketch {
  const float* data;
  int head_dim, columns;

  HWY_INLINE F32V load(F32 d, int channel, int column) const {
    const int left = std::clamp(columns - column, 0, kLanes);
    const size_t begin = size_t(channel) * columns + column;
    const float* at = data + begin;
    if (left == kLanes) return hn::LoadU(d, at);
    if (begin + kLanes <= size_t(head_dim) * columns) {
      return hn::IfThenElseZero(hn::FirstN(d, left), hn::LoadU(d, at));
    }
    HWY_ALIGN float copy[kLanes] = {};
    for (int j = 0; j < left; ++j) copy[j] = at[j];
    return hn::Load(d, copy);
  }
};

// Energies of `count` <= kRowTile rows over the columns [first, first + kColumnTile * kLanes), added to
// energy.
void add_energy(const RowsView& rows, size_t row0, int count, const Sketch& sketch, int first,
                float* energy) {
  const F32 d;
  HWY_ALIGN float channels[kRowTile][kBlock];
  F32V sum[kRowTile][kColumnTile];
  for (auto& row : sum) {
    for (auto& v : row) v = hn::Zero(d);
  }
  for (int begin = 0; begin < sketch.head_dim; begin += kBlock) {
    const int n = std::min(kBlock, sketch.head_dim - begin);
    for (int r = 0; r < kRowTile; ++r) {
      const void* row = rows.row(row0 + std::min(r, count - 1));
      for (int i = 0; i < n; i += kLanes)
        hn::Store(load_row(d, row, rows.type, begin + i), d, channels[r] + i);
    }
    for (int i = 0; i < n; ++i) {
      for (int c = 0; c < kColumnTile; ++c) {
        const F32V g = sketch.load(d, begin + i, first + c * kLanes);
        for (int r = 0; r < kRowTile; ++r) sum[r][c] = hn::MulAdd(hn::Set(d, channels[r][i]), g, sum[r][c]);
      }
    }
  }
  for (int r = 0; r < count; ++r) {
    F32V squares = hn::Zero(d);
    for (int c = 0; c < kColumnTile; ++c) squares = hn::MulAdd(sum[r][c], sum[r][c], squares);
    energy[r] += hn::GetLane(hn::SumOfLanes(d, squares));
  }
}

void SketchedEnergy(const RowsView& rows, const float* gaussian, int columns, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  const Sketch sketch{gaussian, rows.width, columns};
  std::fill_n(energy, count, 0.0f);
  for (size_t i = 0; i < count; i += kRowTile) {
    const int tile = static_cast<int>(std::min<size_t>(kRowTile, count - i));
    for (int first = 0; first < sketch.columns; first += kColumnTile * kLanes) {
      add_energy(rows, i, tile, sketch, first, energy + i);
    }
  }
}

void RowEnergy(const RowsView& rows, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    F32V sum = hn::Zero(d);
    for (int c = 0; c < rows.width; c += kLanes) {
      const F32V x = load_row(d, rows.row(i), rows.type, c);
      sum = hn::MulAdd(x, x, sum);
    }
    energy[i] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(SketchedEnergy);
HWY_EXPORT(RowEnergy);

void sketched_energy(const RowsView& rows, std::span<const float> gaussian, int columns,
                     std::span<float> energy) {
  HWY_DYNAMIC_DISPATCH(SketchedEnergy)(rows, gaussian.data(), columns, energy.data(), energy.size());
}

void row_energy(const RowsView& rows, std::span<float> energy) {
  HWY_DYNAMIC_DISPATCH(RowEnergy)(rows, energy.data(), energy.size());
}

}  // namespace vase::kernels::fused
#endif
