// Row energies on Highway. Several rows at a time share every load of G.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/leverage/simd.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/leverage/fused.h"
#include "kernels/leverage/leverage.h"
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
inline constexpr int kRowTile = kLanes == 16 ? 8 : 4;  // with two vectors of columns, what fits into the registers
inline constexpr int kBlock = 128;                     // channels decoded at a time
static_assert(2 * kLanes <= kSketchTail);

// kVectors vectors of columns of G [head_dim][columns], from `first` on; columns behind the last one read as 0.
template <int kVectors>
class ColumnTile {
 public:
  ColumnTile(const float* gaussian, int columns, int first) : at_(gaussian + first), columns_(columns) {
    const F32 d;
    for (int c = 0; c < kVectors; ++c) {
      const int left = std::clamp(columns - first - c * kLanes, 0, kLanes);
      inside_[c] = hn::FirstN(d, left);
    }
  }

  HWY_INLINE F32V load(F32 d, int channel, int c) const {
    return hn::IfThenElseZero(inside_[c], hn::LoadU(d, at_ + size_t(channel) * columns_ + c * kLanes));
  }

 private:
  const float* at_;
  int columns_;
  hn::Mask<F32> inside_[kVectors];
};

// Rows in logical order lie anywhere, so the hardware cannot guess the next ones.
void prefetch_rows(const RowsView& rows, size_t begin, size_t end) {
  const size_t bytes = rows.width * row_element_bytes(rows.type);
  for (size_t i = begin; i < end; ++i) {
    for (size_t at = 0; at < bytes; at += 64) hwy::Prefetch(static_cast<const std::byte*>(rows.row(i)) + at);
  }
}

// Energies of `count` <= kRowTile rows over the columns of a tile, added to energy.
template <int kVectors>
void add_energy(const RowsView& rows, size_t row0, int count, const ColumnTile<kVectors>& tile, float* energy) {
  const F32 d;
  HWY_ALIGN float channels[kRowTile][kBlock];
  F32V sum[kRowTile][kVectors];
  for (auto& row : sum) {
    for (auto& v : row) v = hn::Zero(d);
  }
  for (int begin = 0; begin < rows.width; begin += kBlock) {
    const int n = std::min(kBlock, rows.width - begin);
    for (int r = 0; r < kRowTile; ++r) {
      const void* row = rows.row(row0 + std::min(r, count - 1));
      for (int i = 0; i < n; i += kLanes)
        hn::Store(load_row(d, row, rows.type, begin + i), d, channels[r] + i);
    }
    for (int i = 0; i < n; ++i) {
      F32V g[kVectors];
      for (int c = 0; c < kVectors; ++c) g[c] = tile.load(d, begin + i, c);
      for (int r = 0; r < kRowTile; ++r) {
        const F32V x = hn::Set(d, channels[r][i]);
        for (int c = 0; c < kVectors; ++c) sum[r][c] = hn::MulAdd(x, g[c], sum[r][c]);
      }
    }
  }
  for (int r = 0; r < count; ++r) {
    F32V squares = hn::Zero(d);
    for (int c = 0; c < kVectors; ++c) squares = hn::MulAdd(sum[r][c], sum[r][c], squares);
    energy[r] += hn::GetLane(hn::SumOfLanes(d, squares));
  }
}

template <int kVectors>
void add_energies(const RowsView& rows, const float* gaussian, int columns, int first, float* energy, size_t count) {
  const ColumnTile<kVectors> tile(gaussian, columns, first);
  for (size_t i = 0; i < count; i += kRowTile) {
    prefetch_rows(rows, std::min(count, i + kRowTile), std::min(count, i + 2 * kRowTile));
    add_energy(rows, i, static_cast<int>(std::min<size_t>(kRowTile, count - i)), tile, energy + i);
  }
}

void SketchedEnergy(const RowsView& rows, const float* gaussian, int columns, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  std::fill_n(energy, count, 0.0f);
  int first = 0;
  for (; columns - first > kLanes; first += 2 * kLanes) add_energies<2>(rows, gaussian, columns, first, energy, count);
  if (first < columns) add_energies<1>(rows, gaussian, columns, first, energy, count);
}

void RowEnergy(const RowsView& rows, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    prefetch_rows(rows, std::min(count, i + kRowTile), std::min(count, i + kRowTile + 1));
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
