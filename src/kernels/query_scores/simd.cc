// query_scores.h on Highway. A tile of vectors shares every load of four stored rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/query_scores/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/query_scores/fused.h"
#include "kernels/row_element.h"
#include "kernels/simd_target.h"
#include "kernels/slot_attention/softmax-inl.h"
#include "kernels/slot_attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Dot products of H vectors with four rows.
template <int H, class T>
HWY_INLINE void dot_tile(const float* HWY_RESTRICT vectors, const Row<T> (&row)[kSlotTile], int padded,
                         float* HWY_RESTRICT out, size_t stride) {
  const F32 d;
  F32V sum[H][kSlotTile];
  for (auto& sums : sum) {
    for (auto& v : sums) v = hn::Zero(d);
  }
  for (int i = 0; i < padded; i += kLanes) {
    F32V vector[H];
    for (int h = 0; h < H; ++h) vector[h] = load_row(d, vectors + h * padded + i);
    for (int j = 0; j < kSlotTile; ++j) {
      const F32V x = row[j].load(d, i);
      for (int h = 0; h < H; ++h) sum[h][j] = hn::MulAdd(vector[h], x, sum[h][j]);
    }
  }
  for (int h = 0; h < H; ++h) store_sums(d, sum[h], out + h * stride);
}

// The same for `count` <= kMaxHeads vectors.
template <int H, class T>
HWY_INLINE void dot_tile_of(int count, const float* vectors, const Row<T> (&row)[kSlotTile], int padded, float* out,
                            size_t stride) {
  if constexpr (H > 1) {
    if (count < H) return dot_tile_of<H - 1>(count, vectors, row, padded, out, stride);
  }
  dot_tile<H>(vectors, row, padded, out, stride);
}

// The same for any count, in tiles of nearly equal size.
template <class T>
HWY_INLINE void dot_tiles_of_four(const float* vectors, int count, const Row<T> (&row)[kSlotTile], int padded,
                                  float* out, size_t stride) {
  const int tiles = (count + kMaxHeads - 1) / kMaxHeads;
  for (int i = 0, v = 0; i < tiles; ++i) {
    const int size = (count - v) / (tiles - i);
    dot_tile_of<kMaxHeads>(size, vectors + v * padded, row, padded, out + v * stride, stride);
    v += size;
  }
}

inline constexpr int kAhead = 16;

template <class T>
HWY_NOINLINE void dots_of_rows(const float* vectors, int count, const RowsView& rows, int n, float* out,
                               size_t stride) {
  const int padded = padded_row(rows.width);
  for (int i = 0; i < n; i += kSlotTile) {
    Row<T> row[kSlotTile];
    for (int j = 0; j < kSlotTile; ++j) {
      row[j] = Row<T>(rows.row(std::min(i + j, n - 1)));
      fetch_row<T>(rows.row(std::min(i + j + kAhead, n - 1)), padded);
    }
    dot_tiles_of_four(vectors, count, row, padded, out + i, stride);
  }
}

void RowDots(const float* vectors, int count, const RowsView& rows, int n, float* out, size_t stride) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    dots_of_rows<typename decltype(element)::Type>(vectors, count, rows, n, out, stride);
  });
}

// Pairs (f, f + pairs) in whole vectors while both halves lie in the row. Returns how many pairs it did.
template <class T>
HWY_INLINE int half_magnitudes(const Row<T>& row, int pairs, float* out) {
  const F32 d;
  int f = 0;
  for (; f + kLanes <= pairs; f += kLanes) {
    const F32V a = row.load(d, f), b = row.load(d, f + pairs);
    hn::StoreU(hn::Sqrt(hn::MulAdd(a, a, hn::Mul(b, b))), d, out + f);
  }
  return f;
}

// Pairs (2f, 2f + 1), likewise.
#if HWY_TARGET == HWY_SCALAR
template <class T>
HWY_INLINE int adjacent_magnitudes(const Row<T>&, int, float*) {
  return 0;
}
#else
template <class T>
HWY_INLINE int adjacent_magnitudes(const Row<T>& row, int pairs, float* out) {
  const F32 d;
  int f = 0;
  for (; f + kLanes <= pairs; f += kLanes) {
    const F32V x = row.load(d, 2 * f), y = row.load(d, 2 * f + kLanes);
    const F32V a = hn::ConcatEven(d, y, x), b = hn::ConcatOdd(d, y, x);
    hn::StoreU(hn::Sqrt(hn::MulAdd(a, a, hn::Mul(b, b))), d, out + f);
  }
  return f;
}
#endif

template <class T>
HWY_INLINE void magnitudes(const RowsView& rows, int n, int pairs, bool adjacent, float* out) {
  const int padded = padded_row(pairs);
  for (int i = 0; i < n; ++i, out += padded) {
    const Row<T> row(rows.row(i));
    int f = adjacent ? adjacent_magnitudes(row, pairs, out) : half_magnitudes(row, pairs, out);
    for (; f < pairs; ++f) {
      const float a = row_element(rows, i, adjacent ? 2 * f : f);
      const float b = row_element(rows, i, adjacent ? 2 * f + 1 : f + pairs);
      out[f] = std::sqrt(a * a + b * b);
    }
    std::fill(out + pairs, out + padded, 0.0f);
  }
}

void PairMagnitudes(const RowsView& rows, int n, int pairs, bool adjacent, float* out) {
  note_simd_target(HWY_TARGET);
  with_elements(rows.type, [&](auto element) HWY_ATTR {
    magnitudes<typename decltype(element)::Type>(rows, n, pairs, adjacent, out);
  });
}

// exp(x - max) of the logits that count, NaN for the others; returns the sum of the former. The tail is -inf.
HWY_INLINE float exp_of_counting(float* logits, size_t n, float max) {
  const F32 d;
  const F32V origin = hn::Set(d, max), inf = hn::Set(d, kInfinity);
  F32V total = hn::Zero(d);
  for (size_t j = 0; j < n; j += kLanes) {
    const F32V x = load_row(d, logits + j);
    const auto counts = hn::Lt(x, inf);
    const F32V e = exp_nonpositive(d, hn::IfThenElse(counts, hn::Sub(x, origin), hn::Set(d, kMinusInfinity)));
    total = hn::Add(total, e);
    hn::StoreU(hn::IfThenElse(counts, e, hn::NaN(d)), d, logits + j);
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

void AddSoftmax(float* logits, size_t n, float* sum, size_t shares) {
  note_simd_target(HWY_TARGET);
  const F32 d;
  const size_t padded = (n + kPad - 1) / kPad * kPad;
  std::fill(logits + n, logits + padded, kMinusInfinity);
  F32V highest = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < padded; j += kLanes) {
    const F32V x = load_row(d, logits + j);
    highest = hn::IfThenElse(hn::And(hn::Lt(x, hn::Set(d, kInfinity)), hn::Gt(x, highest)), x, highest);
  }
  const float max = hn::GetLane(hn::MaxOfLanes(d, highest));
  const float total = exp_of_counting(logits, padded, max == kMinusInfinity ? 0.0f : max);
  const float factor = total > 0 ? 1 / total : 0.0f;
  size_t j = 0;
  for (; j + kLanes <= shares; j += kLanes) {
    hn::StoreU(hn::MulAdd(load_row(d, logits + j), hn::Set(d, factor), load_row(d, sum + j)), d, sum + j);
  }
  for (; j < shares; ++j) sum[j] += logits[j] * factor;
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {
HWY_EXPORT(RowDots);
HWY_EXPORT(PairMagnitudes);
HWY_EXPORT(AddSoftmax);

void row_dots(std::span<const float> vectors, int count, const RowsView& rows, int n, float* out, size_t stride) {
  HWY_DYNAMIC_DISPATCH(RowDots)(vectors.data(), count, rows, n, out, stride);
}

void pair_magnitudes(const RowsView& rows, int n, int pairs, bool adjacent, float* out) {
  HWY_DYNAMIC_DISPATCH(PairMagnitudes)(rows, n, pairs, adjacent, out);
}

void add_softmax(std::span<float> logits, std::span<float> sum) {
  HWY_DYNAMIC_DISPATCH(AddSoftmax)(logits.data(), logits.size(), sum.data(), sum.size());
}

}  // namespace vase::kernels::fused
#endif
