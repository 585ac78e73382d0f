// row_distance.h on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_distance/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "kernels/row_distance/fused.h"
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

void WeightedRowSum(const RowsView& rows, const float* weights, size_t count, float* sum) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  const int padded = padded_row(rows.width);
  std::fill_n(sum, padded, 0.0f);
  for (size_t i = 0; i < count; ++i) {
    if (weights[i] == 0 || std::isnan(weights[i])) continue;
    const F32V weight = hn::Set(d, weights[i]);
    for (int c = 0; c < padded; c += kLanes) {
      hn::StoreU(hn::MulAdd(weight, load_row(d, rows.row(i), rows.type, c), load_row(d, sum + c)), d, sum + c);
    }
  }
}

void RowDistance(const RowsView& rows, const float* point, float* distance, size_t count) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  for (size_t i = 0; i < count; ++i) {
    F32V sum = hn::Zero(d);
    for (int c = 0; c < rows.width; c += kLanes) {
      const F32V difference = hn::Sub(load_row(d, rows.row(i), rows.type, c), load_row(d, point + c));
      sum = hn::MulAdd(difference, difference, sum);
    }
    distance[i] = std::sqrt(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
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
