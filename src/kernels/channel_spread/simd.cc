// Ranges and spreads of channels on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/channel_spread/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "kernels/channel_spread/fused.h"
#include "kernels/simd_target.h"
#include "kernels/slot_attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
inline constexpr int kChannelTile = 4;  // vectors of channels that pass over the rows together

inline constexpr size_t kAhead = 16;

// The ranges of `kTile` vectors of channels from `begin` on. The tails of the rows are zero, so that low and scale become
// zero there.
template <int kTile, class T>
HWY_INLINE void scale_channels(const RowsView& rows, const uint32_t* which, size_t count, int begin, float* low,
                               float* scale) {
  const F32 d;
  const int padded = padded_row(rows.width);
  F32V smallest[kTile], largest[kTile];
  for (int v = 0; v < kTile; ++v) {
    smallest[v] = hn::Set(d, INFINITY);
    largest[v] = hn::Set(d, -INFINITY);
  }
  for (size_t i = 0; i < count; ++i) {
    // The first tile fetches for all.
    if (begin == 0) fetch_row<T>(rows.row(which[std::min(i + kAhead, count - 1)]), padded);
    const Row<T> row(rows.row(which[i]));
    for (int v = 0; v < kTile; ++v) {
      const F32V x = row.load(d, begin + v * kLanes);
      smallest[v] = hn::Min(smallest[v], x);
      largest[v] = hn::Max(largest[v], x);
    }
  }
  for (int v = 0; v < kTile; ++v) {
    const int c = begin + v * kLanes;
    hn::StoreU(smallest[v], d, low + c);
    const F32V inverse = hn::Div(hn::Set(d, 1), hn::Sub(largest[v], smallest[v]));
    hn::StoreU(hn::IfThenElseZero(hn::Gt(largest[v], smallest[v]), inverse), d, scale + c);
  }
}

template <class T>
HWY_INLINE void scale_all(const RowsView& rows, const uint32_t* which, size_t count, float* low, float* scale) {
  const int padded = padded_row(rows.width);
  int c = 0;
  for (; c + kChannelTile * kLanes <= padded; c += kChannelTile * kLanes) {
    scale_channels<kChannelTile, T>(rows, which, count, c, low, scale);
  }
  for (; c < padded; c += kLanes) scale_channels<1, T>(rows, which, count, c, low, scale);
}

void ChannelScaling(const RowsView& rows, const uint32_t* which, size_t count, float* low, float* scale) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    scale_all<typename decltype(element)::Type>(rows, which, count, low, scale);
  });
}

// Of four rows: the sums over the channels of f(x), x being the scaled channel and f given with the row's number.
template <class T, class Term>
HWY_INLINE void sum_scaled(const Row<T> (&row)[kSlotTile], int padded, const float* low, const float* scale,
                           const Term& term, float* sums) {
  const F32 d;
  F32V sum[kSlotTile];
  for (auto& v : sum) v = hn::Zero(d);
  for (int c = 0; c < padded; c += kLanes) {
    const F32V origin = load_row(d, low + c), factor = load_row(d, scale + c);
    for (int j = 0; j < kSlotTile; ++j) {
      sum[j] = term(j, hn::Mul(hn::Sub(row[j].load(d, c), origin), factor), sum[j]);
    }
  }
  store_sums(d, sum, sums);
}

template <class T>
HWY_INLINE void spreads(const RowsView& rows, const uint32_t* which, size_t count, const float* low, const float* scale,
                        float* spread) {
  const F32 d;
  const int padded = padded_row(rows.width);
  for (size_t i = 0; i < count; i += kSlotTile) {
    Row<T> row[kSlotTile];
    for (int j = 0; j < kSlotTile; ++j) row[j] = Row<T>(rows.row(which[std::min(i + j, count - 1)]));
    float mean[kSlotTile], total[kSlotTile];
    sum_scaled(row, padded, low, scale, [](int, F32V x, F32V sum) HWY_ATTR { return hn::Add(sum, x); }, mean);
    for (float& m : mean) m /= static_cast<float>(rows.width);
    const auto add_square = [&](int j, F32V x, F32V sum) HWY_ATTR {
      const F32V off = hn::Sub(x, hn::Set(d, mean[j]));
      return hn::MulAdd(off, off, sum);
    };
    sum_scaled(row, padded, low, scale, add_square, total);
    for (size_t j = 0; j < kSlotTile && i + j < count; ++j) {
      // Channels behind the last are 0, and were counted as far from the mean as that.
      const float squares = total[j] - static_cast<float>(padded - rows.width) * mean[j] * mean[j];
      spread[i + j] = rows.width > 1 ? std::sqrt(std::max(squares, 0.0f) / static_cast<float>(rows.width - 1)) : 0;
    }
  }
}

void ChannelSpread(const RowsView& rows, const uint32_t* which, size_t count, const float* low, const float* scale,
                   float* spread) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    spreads<typename decltype(element)::Type>(rows, which, count, low, scale, spread);
  });
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
