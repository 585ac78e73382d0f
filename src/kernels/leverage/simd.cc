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
void SketchedEnergies(const RowsView& rows, const float* gaussian, int groups, int columns, float* energy, size_t count,
                      size_t stride) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    for (int g = 0; g < groups; ++g) energy[g * stride + i] = 0;
    for (int c = 0; c < groups * columns; ++c) {
      float dot = 0;
      for (int k = 0; k < rows.width; ++k) {
        dot += hn::GetLane(load_row(d, rows.row(i), rows.type, k)) * gaussian[size_t(k) * groups * columns + c];
      }
      energy[c / columns * stride + i] += dot * dot;
    }
  }
}
#else
// Weaves channels [begin, begin + channels) of `count` rows from row0 on, the last one repeated to a full tile of quads.
template <class T>
HWY_INLINE void weave_panel(const RowsView& rows, size_t row0, int count, int begin, int channels, float* woven) {
  constexpr int kAhead = 16;
  const auto row = [&](int i) { return static_cast<const T*>(rows.row(row0 + std::min(i, count - 1))); };
  for (int i = 0; i < count; i += kQuad * kQuadTile) {
    for (int q = 0; q < kQuadTile; ++q, woven += kBlock * kQuad) {
      const int r = i + q * kQuad;
      for (int j = 0; j < kQuad; ++j) prefetch_row(row(r + kAhead + j) + begin, channels * sizeof(T));
      weave<T>({row(r), row(r + 1), row(r + 2), row(r + 3)}, begin, channels, woven);
    }
  }
}

// The products of a panel of `count` rows with all columns: sums[quad][vector].
template <class T>
HWY_INLINE void sum_panel(const RowsView& rows, size_t row0, int count, const Columns& columns, float* sums) {
  HWY_ALIGN float table[kBlock * kMaxVectors * kLanes], woven[kPanel * kBlock * kQuad];
  const int padded = padded_row(rows.width), vectors = columns.groups * columns.vectors_of_group();
  const int passes = (vectors + kMaxVectors - 1) / kMaxVectors;
  for (int begin = 0; begin < padded; begin += kBlock) {
    const int channels = std::min(kBlock, padded - begin);
    weave_panel<T>(rows, row0, count, begin, channels, woven);
    for (int pass = 0, done = 0; pass < passes; ++pass) {
      const int size = (vectors - done) / (passes - pass);  // nearly the same for all
      spread_gaussian(columns, done, size, begin, table);
      for (int q = 0; q * kQuad < count; q += kQuadTile) {
        sketch_tile_of(size, woven + q * kBlock * kQuad, table, channels, sums + (q * kPanelVectors + done) * kLanes);
      }
      done += size;
    }
  }
}

template <class T>
HWY_NOINLINE void energies(const RowsView& rows, const Columns& columns, float* energy, size_t count, size_t stride) {
  HWY_ALIGN float sums[kPanel * kPanelVectors * kLanes];
  const int vectors = columns.vectors_of_group();
  for (size_t row0 = 0; row0 < count; row0 += kPanel * kQuad) {
    const int n = static_cast<int>(std::min<size_t>(kPanel * kQuad, count - row0));
    std::fill(std::begin(sums), std::end(sums), 0.0f);
    sum_panel<T>(rows, row0, n, columns, sums);
    for (int i = 0; i < n; i += kQuad) {
      for (int g = 0; g < columns.groups; ++g) {
        HWY_ALIGN float quad[kQuad];
        quad_energy(sums + (i / kQuad * kPanelVectors + g * vectors) * kLanes, vectors, quad);
        std::copy_n(quad, std::min(kQuad, n - i), energy + g * stride + row0 + i);
      }
    }
  }
}

void SketchedEnergies(const RowsView& rows, const float* gaussian, int groups, int columns, float* energy, size_t count,
                      size_t stride) {
  note_simd_target(HWY_TARGET);
  const auto all = rows.type == RowType::kF16 ? energies<hwy::float16_t> : energies<float>;
  all(rows, {gaussian, rows.width, groups, columns}, energy, count, stride);
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
