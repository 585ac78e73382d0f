// Ranges and spreads of channels on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/channel_spread/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/channel_spread/fused.h"
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

// The tails of the rows are zero, so that low and scale become zero there.
void ChannelScaling(const RowsView& rows, const uint32_t* which, size_t count, float* low, float* scale) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  for (int c = 0; c < padded_row(rows.width); c += kLanes) {
    F32V smallest = hn::Set(d, INFINITY), largest = hn::Set(d, -INFINITY);
    for (size_t i = 0; i < count; ++i) {
      const F32V x = load_row(d, rows.row(which[i]), rows.type, c);
      smallest = hn::Min(smallest, x);
      largest = hn::Max(largest, x);
    }
    hn::StoreU(smallest, d, low + c);
    const F32V inverse = hn::Div(hn::Set(d, 1), hn::Sub(largest, smallest));
    hn::StoreU(hn::IfThenElseZero(hn::Gt(largest, smallest), inverse), d, scale + c);
  }
}

void ChannelSpread(const RowsView& rows, const uint32_t* which, size_t count, const float* low, const float* scale,
                   float* spread) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  const int padded = padded_row(rows.width);
  for (size_t i = 0; i < count; ++i) {
    const void* row = rows.row(which[i]);
    const auto scaled = [&](int c) HWY_ATTR {
      return hn::Mul(hn::Sub(load_row(d, row, rows.type, c), hn::LoadU(d, low + c)), hn::LoadU(d, scale + c));
    };
    F32V sum = hn::Zero(d), squares = hn::Zero(d);
    for (int c = 0; c < padded; c += kLanes) sum = hn::Add(sum, scaled(c));
    const float mean = hn::GetLane(hn::SumOfLanes(d, sum)) / static_cast<float>(rows.width);
    for (int c = 0; c < padded; c += kLanes) {
      const F32V off = hn::Sub(scaled(c), hn::Set(d, mean));
      squares = hn::MulAdd(off, off, squares);
    }
    // Channels behind the last are 0, and were counted as far from the mean as that.
    const float total = hn::GetLane(hn::SumOfLanes(d, squares)) - static_cast<float>(padded - rows.width) * mean * mean;
    spread[i] = rows.width > 1 ? std::sqrt(HWY_MAX(total, 0.0f) / static_cast<float>(rows.width - 1)) : 0;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(ChannelScaling);
HWY_EXPORT(ChannelSpread);

void channel_scaling(const RowsView& rows, std::span<const uint32_t> which, std::span<float> low,
                     std::span<float> scale) {
  HWY_DYNAMIC_DISPATCH(ChannelScaling)(rows, which.data(), which.size(), low.data(), scale.data());
}

void channel_spread(const RowsView& rows, std::span<const uint32_t> which, std::span<const float> low,
                    std::span<const float> scale, std::span<float> spread) {
  HWY_DYNAMIC_DISPATCH(ChannelSpread)
  (rows, which.data(), which.size(), low.data(), scale.data(), spread.data());
}

}  // namespace vase::kernels::fused
#endif
