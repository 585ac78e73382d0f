// Register tiles of slot attention: query heads x slots for the logits, query heads x channels for the
// values. Decode runs them on rows as stored, prefill on a segment decoded to f32. Every logit and every
// output channel is one chain of fused multiply-adds in a fixed order, whatever tile it falls into, so both
// give the same bits.
#if defined(VASE_SLOT_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_SLOT_ATTENTION_TILES_INL_H_
#undef VASE_SLOT_ATTENTION_TILES_INL_H_
#else
#define VASE_SLOT_ATTENTION_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/rows-inl.h"
#include "kernels/slot_attention/layout.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::HWY_NAMESPACE::F32;
using kernels::HWY_NAMESPACE::F32V;
using kernels::HWY_NAMESPACE::fetch_row;
using kernels::HWY_NAMESPACE::kLanes;
using kernels::HWY_NAMESPACE::load_row;
using kernels::HWY_NAMESPACE::Row;
using kernels::HWY_NAMESPACE::with_elements;

// Whether the target has 32 vector registers: every member of the AVX-512 and AArch64 families. Within an
// architecture Highway numbers better targets lower, and its emulated ones come last.
inline constexpr bool kManyRegisters =
    (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || (HWY_ARCH_ARM_A64 && HWY_TARGET < HWY_EMU128);

// Accumulators that fit the register file beside the operands; other targets have 16 registers.
inline constexpr int kAccumulators = kManyRegisters ? 24 : 12;
inline constexpr int kSlotTile = 4;
inline constexpr int kMaxHeads = kAccumulators / kSlotTile;

// Query heads that share every row that is read and decoded: more of them take fewer slots at a time.
inline constexpr int kTileHeads = kManyRegisters ? 8 : kMaxHeads;

// Consecutive rows of one segment. `ahead` > 0: while a row is used, the one this many bytes further is
// fetched to L2.
template <class T>
struct Rows {
  const std::byte* base;
  size_t stride;  // bytes
  int padded;     // elements of a row
  size_t ahead = 0;

  HWY_INLINE Row<T> row(int i) const { return Row<T>(base + size_t(i) * stride); }
};

// Fetches the part of a row to come that lies where the channels from `channel` on are in row i. Part by part, while row
// i is worked on: a burst of whole rows would take the buffers that the loads of this row need.
template <class T>
HWY_INLINE void prefetch_ahead(const Rows<T>& rows, int i, int channel, int channels) {
  // An address behind the last row is only a hint that the machine drops; as a number it needs no object
  // there.
  const uintptr_t from = reinterpret_cast<uintptr_t>(rows.base) + size_t(i) * rows.stride + rows.ahead;
  for (size_t at = channel * sizeof(T); at < (channel + channels) * sizeof(T); at += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(from + at), 0, 2);
  }
}

// out[j] = sum of the lanes of v[j], the same tree of additions for each j.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void store_sums(F32, const F32V (&v)[kSlotTile], float* HWY_RESTRICT out) {
  for (int j = 0; j < kSlotTile; ++j) out[j] = hn::GetLane(v[j]);
}
#else
// Adds up the 128-bit blocks of v and stores the four sums.
template <class D, class V>
HWY_INLINE void store_block_sums(D d, V v, float* HWY_RESTRICT out) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    hn::StoreU(v, d, out);
  } else {
    const hn::Half<D> half;
    store_block_sums(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), out);
  }
}

HWY_INLINE void store_sums(F32 d, const F32V (&v)[kSlotTile], float* HWY_RESTRICT out) {
  const hn::Repartition<uint64_t, F32> d64;
  const F32V ab = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const F32V cd = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto ab64 = hn::BitCast(d64, ab), cd64 = hn::BitCast(d64, cd);
  const F32V low = hn::BitCast(d, hn::InterleaveLower(d64, ab64, cd64));
  const F32V high = hn::BitCast(d, hn::InterleaveUpper(d64, ab64, cd64));
  store_block_sums(d, hn::Add(low, high), out);
}
#endif

// Sums of H heads x S slots, S being kSlotTile or half of it: logits[h][slot].
template <int H, int S>
HWY_INLINE void store_logits(F32 d, const F32V (&sum)[H][S], float* HWY_RESTRICT logits) {
  if constexpr (S == kSlotTile) {
    for (int h = 0; h < H; ++h) store_sums(d, sum[h], logits + h * kProbStride);
  } else {
    for (int h = 0; h < H; h += 2) {
      const int other = std::min(h + 1, H - 1);
      float both[kSlotTile];
      store_sums(d, {sum[h][0], sum[h][1], sum[other][0], sum[other][1]}, both);
      std::copy_n(both, S, logits + h * kProbStride);
      std::copy_n(both + S, S, logits + other * kProbStride);
    }
  }
}

// logits[h][s] = q[h] . row[s] for s in [begin, end), begin a multiple of kSlotTile. The last tile stores
// numbers without meaning up to the next multiple of kSlotTile. kFetch: rows.ahead is not 0.
template <int H, bool kFetch, class T>
HWY_NOINLINE void dot_tiles(const float* HWY_RESTRICT q, const Rows<T> rows, int begin, int end,
                            float* HWY_RESTRICT logits) {
  constexpr int kSlots = H <= kMaxHeads ? kSlotTile : kSlotTile / 2;
  const F32 d;
  const int padded = rows.padded;
  for (int s = begin; s < end; s += kSlots) {
    Row<T> row[kSlots];
    F32V sum[H][kSlots];
    for (int j = 0; j < kSlots; ++j) {
      row[j] = rows.row(std::min(s + j, end - 1));
      for (int h = 0; h < H; ++h) sum[h][j] = hn::Zero(d);
    }
    for (int i = 0; i < padded; i += kLanes) {
      if (kFetch && i * sizeof(T) % 64 == 0) {
        for (int j = 0; j < kSlots; ++j) prefetch_ahead(rows, s + j, i, 1);
      }
      F32V head[H];
      for (int h = 0; h < H; ++h) head[h] = load_row(d, q + h * padded + i);
      for (int j = 0; j < kSlots; ++j) {
        const F32V x = row[j].load(d, i);
        for (int h = 0; h < H; ++h) sum[h][j] = hn::MulAdd(head[h], x, sum[h][j]);
      }
    }
    store_logits(d, sum, logits + s);
  }
}

// acc[h][c] += sum over s in [begin, end) of p[h][s] * row[s][c], ascending, for C vectors of channels from
// `channel`.
template <int H, int C, class T>
HWY_INLINE void value_tile(const float* HWY_RESTRICT p, const Rows<T>& rows, int begin, int end, int channel,
                           float* HWY_RESTRICT acc) {
  const F32 d;
  F32V sum[H][C];
  for (int h = 0; h < H; ++h) {
    for (int c = 0; c < C; ++c) sum[h][c] = load_row(d, acc + h * rows.padded + channel + c * kLanes);
  }
  for (int s = begin; s < end; ++s) {
    const Row<T> row = rows.row(s);
    if (rows.ahead) prefetch_ahead(rows, s, channel, C * kLanes);
    F32V weight[H];
    for (int h = 0; h < H; ++h) weight[h] = hn::Set(d, p[h * kProbStride + s]);
    for (int c = 0; c < C; ++c) {
      const F32V x = row.load(d, channel + c * kLanes);
      for (int h = 0; h < H; ++h) sum[h][c] = hn::MulAdd(weight[h], x, sum[h][c]);
    }
  }
  for (int h = 0; h < H; ++h) {
    for (int c = 0; c < C; ++c) hn::StoreU(sum[h][c], d, acc + h * rows.padded + channel + c * kLanes);
  }
}

template <int H, int C, class T>
HWY_INLINE void value_channels(const float* HWY_RESTRICT p, const Rows<T>& rows, int begin, int end,
                               int channel, float* HWY_RESTRICT acc) {
  for (; channel + C * kLanes <= rows.padded; channel += C * kLanes) {
    value_tile<H, C>(p, rows, begin, end, channel, acc);
  }
  if constexpr (C > 1) value_channels<H, C / 2>(p, rows, begin, end, channel, acc);
}

template <int H, class T>
HWY_NOINLINE void value_tiles(const float* HWY_RESTRICT p, const Rows<T> rows, int begin, int end,
                              float* HWY_RESTRICT acc) {
  constexpr int kFit = kAccumulators / H;
  value_channels<H, kFit >= 8 ? 8 : kFit >= 4 ? 4 : 2>(p, rows, begin, end, 0, acc);
}

// Splits a group into tiles of at most kTileHeads heads of nearly equal size. The first tile fetches ahead.
template <class T, class Tile>
HWY_INLINE void for_head_tiles(int group, Rows<T> rows, const Tile& tile) {
  const int tiles = (group + kTileHeads - 1) / kTileHeads;
  for (int i = 0, head = 0; i < tiles; ++i) {
    const int heads = (group - head) / (tiles - i);
    tile.template run<kTileHeads>(heads, head, rows);
    rows.ahead = 0;
    head += heads;
  }
}

template <class T>
struct DotTile {
  const float* q;
  int begin, end;
  float* logits;

  template <int H>
  HWY_INLINE void run(int heads, int first, const Rows<T>& rows) const {
    if constexpr (H > 1) {
      if (heads < H) return run<H - 1>(heads, first, rows);
    }
    const auto tiles = rows.ahead ? dot_tiles<H, true, T> : dot_tiles<H, false, T>;
    tiles(q + first * rows.padded, rows, begin, end, logits + first * kProbStride);
  }
};

template <class T>
struct ValueTile {
  const float* p;
  int begin, end;
  float* acc;

  template <int H>
  HWY_INLINE void run(int heads, int first, const Rows<T>& rows) const {
    if constexpr (H > 1) {
      if (heads < H) return run<H - 1>(heads, first, rows);
    }
    value_tiles<H>(p + first * kProbStride, rows, begin, end, acc + first * rows.padded);
  }
};

// logits[g][s] = q[g] . k[s] for all heads of the group and s in [begin, end).
template <class T>
HWY_INLINE void dots(const float* q, int group, const Rows<T>& rows, int begin, int end, float* logits) {
  for_head_tiles(group, rows, DotTile<T>{q, begin, end, logits});
}

// acc[g] += sum of p[g][s] v[s] for all heads of the group and s in [begin, end).
template <class T>
HWY_INLINE void weigh_values(const float* p, int group, const Rows<T>& rows, int begin, int end, float* acc) {
  for_head_tiles(group, rows, ValueTile<T>{p, begin, end, acc});
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif
