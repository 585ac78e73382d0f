// Row energies on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/leverage/simd.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/leverage/fused.h"
#include "kernels/leverage/sketch-inl.h"
#include "kernels/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

// Rows in logical order lie anywhere, so the hardware cannot guess the next ones.
HWY_INLINE void prefetch_row(const void* row, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) hwy::Prefetch(static_cast<const std::byte*>(row) + at);
}

#if HWY_TARGET == HWY_SCALAR  // one lane holds no quad
void SketchedEnergy(const RowsView& rows, const float* gaussian, int columns, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    energy[i] = 0;
    for (int c = 0; c < columns; ++c) {
      float dot = 0;
      for (int k = 0; k < rows.width; ++k) {
        dot += hn::GetLane(load_row(d, rows.row(i), rows.type, k)) * gaussian[size_t(k) * columns + c];
      }
      energy[i] += dot * dot;
    }
  }
}
#else
// What one pass over the rows works with: a few vectors of columns of G.
struct Columns {
  const float* gaussian;  // [width][count]
  int count, first, vectors;
};

// The sums of a panel of up to kPanel quads of rows, row0 the first: sums[quad][vector], over all channels.
template <class T>
void sum_panel(const RowsView& rows, size_t row0, int count, const Columns& columns, float* sums) {
  constexpr int kRows = kQuad * kQuadTile;
  HWY_ALIGN float table[kBlock * kMaxVectors * kLanes], woven[kQuadTile * kBlock * kQuad];
  const int padded = padded_row(rows.width);
  const auto row = [&](int i) { return static_cast<const T*>(rows.row(row0 + std::min(i, count - 1))); };
  for (int begin = 0; begin < padded; begin += kBlock) {
    const int channels = std::min(kBlock, padded - begin);
    spread_gaussian(columns.gaussian, rows.width, columns.count, columns.first, columns.vectors, begin, table);
    for (int i = 0; i < count; i += kRows) {
      for (int j = 0; j < kRows; ++j) prefetch_row(row(i + kRows + j) + begin, channels * sizeof(T));
      for (int q = 0; q < kQuadTile; ++q) {
        const int r = i + q * kQuad;
        weave<T>({row(r), row(r + 1), row(r + 2), row(r + 3)}, begin, channels, woven + q * kBlock * kQuad);
      }
      sketch_tile_of(columns.vectors, woven, table, channels, sums + i / kQuad * kMaxVectors * kLanes);
    }
  }
}

// Energies over some columns, added to energy.
template <class T>
void add_energies(const RowsView& rows, const Columns& columns, float* energy, size_t count) {
  HWY_ALIGN float sums[kPanel * kMaxVectors * kLanes];
  for (size_t row0 = 0; row0 < count; row0 += kPanel * kQuad) {
    const int n = static_cast<int>(std::min<size_t>(kPanel * kQuad, count - row0));
    std::fill(std::begin(sums), std::end(sums), 0.0f);
    sum_panel<T>(rows, row0, n, columns, sums);
    for (int i = 0; i < n; i += kQuad) {
      HWY_ALIGN float quad[kQuad];
      quad_energy(sums + i / kQuad * kMaxVectors * kLanes, columns.vectors, quad);
      for (int r = 0; r < std::min(kQuad, n - i); ++r) energy[row0 + i + r] += quad[r];
    }
  }
}

// Vectors of columns in passes of nearly equal size.
void SketchedEnergy(const RowsView& rows, const float* gaussian, int columns, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  std::fill_n(energy, count, 0.0f);
  const int vectors = (columns + kColumns - 1) / kColumns, passes = (vectors + kMaxVectors - 1) / kMaxVectors;
  const auto add = rows.type == RowType::kF16 ? add_energies<hwy::float16_t> : add_energies<float>;
  for (int pass = 0, done = 0; pass < passes; ++pass) {
    const int size = (vectors - done) / (passes - pass);
    add(rows, {gaussian, columns, done * kColumns, size}, energy, count);
    done += size;
  }
}
#endif

void RowEnergy(const RowsView& rows, float* energy, size_t count) {
  note_simd_target(HWY_TARGET);
  constexpr size_t kAhead = 8;
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    prefetch_row(rows.row(std::min(i + kAhead, count - 1)), rows.width * row_element_bytes(rows.type));
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
