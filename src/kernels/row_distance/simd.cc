// row_distance.h on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_distance/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "kernels/row_distance/fused.h"
#include "kernels/simd_target.h"
#include "kernels/slot_attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void add_weighted(const RowsView& rows, const float* weights, size_t count, float* sum) {
  const F32 d;
  const int padded = padded_row(rows.width);
  std::fill_n(sum, padded, 0.0f);
  for (size_t i = 0; i < count; ++i) {
    if (weights[i] == 0 || std::isnan(weights[i])) continue;
    const F32V weight = hn::Set(d, weights[i]);
    const Row<T> row(rows.row(i));
    for (int c = 0; c < padded; c += kLanes) {
      hn::StoreU(hn::MulAdd(weight, row.load(d, c), load_row(d, sum + c)), d, sum + c);
    }
  }
}

void WeightedRowSum(const RowsView& rows, const float* weights, size_t count, float* sum) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    add_weighted<typename decltype(element)::Type>(rows, weights, count, sum);
  });
}

template <class T>
HWY_INLINE void distances(const RowsView& rows, const float* HWY_RESTRICT point, float* HWY_RESTRICT distance, size_t count) {
  constexpr size_t kAhead = 16;
  const F32 d;
  const int padded = padded_row(rows.width);
  for (size_t i = 0; i < count; i += kSlotTile) {
    Row<T> row[kSlotTile];
    F32V sum[kSlotTile];
    for (int j = 0; j < kSlotTile; ++j) {
      row[j] = Row<T>(rows.row(std::min(i + j, count - 1)));
      sum[j] = hn::Zero(d);
      fetch_row<T>(rows.row(std::min(i + j + kAhead, count - 1)), padded);
    }
    for (int c = 0; c < padded; c += kLanes) {
      const F32V origin = load_row(d, point + c);
      for (int j = 0; j < kSlotTile; ++j) {
        const F32V difference = hn::Sub(row[j].load(d, c), origin);
        sum[j] = hn::MulAdd(difference, difference, sum[j]);
      }
    }
    float squares[kSlotTile];
    store_sums(d, sum, squares);
    for (size_t j = 0; j < kSlotTile && i + j < count; ++j) distance[i + j] = std::sqrt(squares[j]);
  }
}

void RowDistance(const RowsView& rows, const float* point, float* distance, size_t count) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    distances<typename decltype(element)::Type>(rows, point, distance, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(WeightedRowSum);
HWY_EXPORT(RowDistance);

void weighted_row_sum(const RowsView& rows, std::span<const float> weights, std::span<float> sum) {
  HWY_DYNAMIC_DISPATCH(WeightedRowSum)(rows, weights.data(), weights.size(), sum.data());
}

void row_distance(const RowsView& rows, std::span<const float> point, std::span<float> distance) {
  HWY_DYNAMIC_DISPATCH(RowDistance)(rows, point.data(), distance.data(), distance.size());
}

}  // namespace vase::kernels::fused
#endif
