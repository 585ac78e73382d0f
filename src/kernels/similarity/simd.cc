// Similarity of keys on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/similarity/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/rows-inl.h"
#include "kernels/similarity/fused.h"
#include "kernels/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::HWY_NAMESPACE::F32;
using kernels::HWY_NAMESPACE::F32V;
using kernels::HWY_NAMESPACE::kLanes;
using kernels::HWY_NAMESPACE::Row;
using kernels::HWY_NAMESPACE::with_elements;

inline constexpr size_t kBlock = 64;                   // rows summed up before they join the total, for accuracy
inline constexpr int kTile = 4;                        // rows i at a time
inline constexpr int kScan = kLanes >= 16 ? 4 : 2;     // rows j at a time: as many sums as there are registers

template <class T>
HWY_INLINE void sum_directions(const RowsView& keys, const float* inverse, size_t count, float* partial, float* sum) {
  const F32 d;
  const int padded = padded_row(keys.width);
  std::fill_n(sum, padded, 0.0f);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    std::fill_n(partial, padded, 0.0f);
    for (size_t j = begin; j < std::min(begin + kBlock, count); ++j) {
      const Row<T> row(keys.row(j));
      const F32V scale = hn::Set(d, inverse[j]);
      for (int c = 0; c < keys.width; c += kLanes) {
        hn::StoreU(hn::MulAdd(row.load(d, c), scale, hn::LoadU(d, partial + c)), d, partial + c);
      }
    }
    for (int c = 0; c < padded; c += kLanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, partial + c), hn::LoadU(d, sum + c)), d, sum + c);
    }
  }
}

void DirectionSum(const RowsView& keys, const float* inverse, size_t count, float* partial, float* sum) {
  note_simd_target(HWY_TARGET);
  with_elements(keys.type, [&](auto element) HWY_ATTR {
    sum_directions<typename decltype(element)::Type>(keys, inverse, count, partial, sum);
  });
}

// Dot products of kTile rows with kScan rows.
template <class T>
HWY_INLINE void tile_dots(const Row<T> (&a)[kTile], const Row<T> (&b)[kScan], int width, float (&dots)[kTile][kScan]) {
  const F32 d;
  F32V sum[kTile][kScan];
  for (auto& row : sum) {
    for (auto& v : row) v = hn::Zero(d);
  }
  for (int c = 0; c < width; c += kLanes) {
    F32V x[kTile];
    for (int i = 0; i < kTile; ++i) x[i] = a[i].load(d, c);
    for (int j = 0; j < kScan; ++j) {
      const F32V y = b[j].load(d, c);
      for (int i = 0; i < kTile; ++i) sum[i][j] = hn::MulAdd(x[i], y, sum[i][j]);
    }
  }
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kScan; ++j) dots[i][j] = hn::GetLane(hn::SumOfLanes(d, sum[i][j]));
  }
}

template <class T>
HWY_INLINE void find_newest(const RowsView& keys, const uint32_t* order, size_t count, const float* inverse,
                            float threshold, double* duplicate) {
  for (size_t first = 0; first < count; first += kTile) {
    const int rows = static_cast<int>(std::min<size_t>(kTile, count - first));
    Row<T> a[kTile];
    for (int i = 0; i < kTile; ++i) a[i] = Row<T>(keys.row(order[first + std::min(i, rows - 1)]));
    bool found[kTile] = {};
    int left = rows;
    for (size_t end = count; end > 0 && left > 0; end -= std::min<size_t>(kScan, end)) {
      const int scan = static_cast<int>(std::min<size_t>(kScan, end));
      Row<T> b[kScan];
      for (int j = 0; j < kScan; ++j) {  // newest first
        b[j] = Row<T>(keys.row(order[end - 1 - std::min(j, scan - 1)]));
      }
      float dots[kTile][kScan];
      tile_dots(a, b, keys.width, dots);
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < scan && !found[i]; ++j) {
          const uint32_t mine = order[first + i], other = order[end - 1 - j];
          const float similarity = dots[i][j] * inverse[mine] * inverse[other];
          if (mine == other || !(similarity > threshold)) continue;
          duplicate[other] += similarity;
          found[i] = true;
          --left;
        }
      }
    }
  }
}

void NewestSimilar(const RowsView& keys, const uint32_t* order, size_t count, const float* inverse, float threshold,
                   double* duplicate) {
  note_simd_target(HWY_TARGET);
  with_elements(keys.type, [&](auto element) HWY_ATTR {
    find_newest<typename decltype(element)::Type>(keys, order, count, inverse, threshold, duplicate);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(DirectionSum);
HWY_EXPORT(NewestSimilar);

void direction_sum(const RowsView& keys, std::span<const float> inverse, std::span<float> partial,
                   std::span<float> sum) {
  HWY_DYNAMIC_DISPATCH(DirectionSum)(keys, inverse.data(), inverse.size(), partial.data(), sum.data());
}

void newest_similar(const RowsView& keys, std::span<const uint32_t> order, std::span<const float> inverse,
                    float threshold, std::span<double> duplicate) {
  HWY_DYNAMIC_DISPATCH(NewestSimilar)(keys, order.data(), order.size(), inverse.data(), threshold, duplicate.data());
}

}  // namespace vase::kernels::fused
#endif
