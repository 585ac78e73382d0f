// The register tile of sketched energies. A vector holds four rows times as many columns of G as it has blocks of four
// lanes, so no lane is idle whatever the number of columns (of 20, a vector of columns would leave 12 of 32 empty):
//   x  [r0 r1 r2 r3 | r0 r1 r2 r3 | ..]   one channel of four rows, repeated in each block
//   g  [c0 c0 c0 c0 | c1 c1 c1 c1 | ..]   that channel of one column per block
// and sums of x g over the channels are the products of four rows with these columns.
#if defined(VASE_LEVERAGE_SKETCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VASE_LEVERAGE_SKETCH_INL_H_
#undef VASE_LEVERAGE_SKETCH_INL_H_
#else
#define VASE_LEVERAGE_SKETCH_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/leverage/leverage.h"
#include "kernels/slot_attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

inline constexpr int kQuad = 4;                                // rows of a vector
inline constexpr int kColumns = kLanes / kQuad;                // columns of a vector
inline constexpr int kMaxVectors = 5;                          // of columns, that pass over the rows together
inline constexpr int kQuadTile = kManyRegisters ? 4 : 2;       // quads that share every load of G
inline constexpr int kBlock = 64;                              // channels decoded at a time, at most
inline constexpr int kTable = 5120;                            // floats of G for them, so that they stay in L1
inline constexpr int kPanel = 64;                              // quads whose sums wait for the next channels
inline constexpr int kPanelVectors = kMaxSketch / kColumns;    // of columns, at most
static_assert(kLanes <= kSketchTail && kPanelVectors * kLanes * 16 <= kTable);

// Channels of a run of kLanes lie in the order in which four rows are woven together: the 4 b + v-th at v kColumns + b.
HWY_INLINE int channel_at(int place) { return place / kColumns % kQuad + place % kColumns * kQuad; }

// Columns of G [width][groups * columns], cut into vectors that hold columns of one group each.
struct Columns {
  const float* gaussian;
  int width, groups, columns;

  int vectors_of_group() const { return (columns + kColumns - 1) / kColumns; }
  int vectors() const { return groups * vectors_of_group(); }
  // Channels whose part of G fits into a table.
  int block() const { return std::min(kBlock, kTable / (std::max(vectors(), 1) * kLanes) / 16 * 16); }
};

// table[place][v][lane] for channels [begin, begin + channels) and the v-th of `vectors` vectors from `first` on. 0 for
// channels and columns that are not there.
HWY_INLINE void spread_gaussian(const Columns& g, int first, int vectors, int begin, int channels,
                                float* HWY_RESTRICT table) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto column_of_lane = hn::ShiftRight<2>(hn::Iota(di, 0));
  const auto spread = hn::IndicesFromVec(d, column_of_lane);
  int column[kMaxVectors];
  hn::Mask<F32> inside[kMaxVectors];
  for (int v = 0; v < vectors; ++v) {
    const int group = (first + v) / g.vectors_of_group(), at = (first + v) % g.vectors_of_group() * kColumns;
    column[v] = group * g.columns + at;
    inside[v] = hn::RebindMask(d, hn::Lt(column_of_lane, hn::Set(di, g.columns - at)));
  }
  for (int p = 0; p < channels; ++p, table += vectors * kLanes) {
    const int channel = begin + p / kLanes * kLanes + channel_at(p % kLanes);
    if (channel >= g.width) {
      std::fill_n(table, vectors * kLanes, 0.0f);
      continue;
    }
    const float* const row = g.gaussian + size_t(channel) * g.groups * g.columns;
    for (int v = 0; v < vectors; ++v) {
      const F32V some = hn::TableLookupLanes(hn::LoadU(d, row + column[v]), spread);
      hn::Store(hn::IfThenElseZero(inside[v], some), d, table + v * kLanes);
    }
  }
}

// Four rows from element `begin` on, `count` elements: woven[place][row].
template <class T>
HWY_INLINE void weave(const Row<T> (&row)[kQuad], int begin, int count, float* HWY_RESTRICT woven) {
  const F32 d;
  const hn::Repartition<uint64_t, F32> d64;
  for (int i = begin; i < begin + count; i += kLanes, woven += kQuad * kLanes) {
    const F32V a = row[0].load(d, i), b = row[1].load(d, i), c = row[2].load(d, i), e = row[3].load(d, i);
    const auto ab_low = hn::BitCast(d64, hn::InterleaveLower(d, a, b));
    const auto ab_high = hn::BitCast(d64, hn::InterleaveUpper(d, a, b));
    const auto ce_low = hn::BitCast(d64, hn::InterleaveLower(d, c, e));
    const auto ce_high = hn::BitCast(d64, hn::InterleaveUpper(d, c, e));
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, ab_low, ce_low)), d, woven);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, ab_low, ce_low)), d, woven + kLanes);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, ab_high, ce_high)), d, woven + 2 * kLanes);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, ab_high, ce_high)), d, woven + 3 * kLanes);
  }
}

// Rows of the next tile. Their lines are fetched one by one while this tile is worked on: a burst would wait for the buffers
// that lines on their way occupy.
struct Ahead {
  static constexpr int kRows = kQuad * kQuadTile;
  const std::byte* row[kRows];
  int lines;  // of 64 bytes, of all rows together; no more than there are channels

  HWY_INLINE void fetch(int i) const {
    if (i < lines) __builtin_prefetch(row[i % kRows] + i / kRows * 64);
  }
};

// sums[quad][vector] += woven[quad] x table over `count` channels. Strides in floats: kBlock * kQuad from quad to quad of
// `woven`, `stride` from quad to quad of `sums`.
template <int V>
HWY_INLINE void sketch_tile(const float* HWY_RESTRICT woven, const float* HWY_RESTRICT table, int count,
                            float* HWY_RESTRICT sums, size_t stride, const Ahead& ahead) {
  const F32 d;
  F32V sum[kQuadTile][V];
  for (int q = 0; q < kQuadTile; ++q) {
    for (int v = 0; v < V; ++v) sum[q][v] = hn::Load(d, sums + q * stride + v * kLanes);
  }
  for (int p = 0; p < count; ++p, table += V * kLanes, woven += kQuad) {
    ahead.fetch(p);
    F32V g[V];
    for (int v = 0; v < V; ++v) g[v] = hn::Load(d, table + v * kLanes);
    for (int q = 0; q < kQuadTile; ++q) {
      const F32V x = hn::LoadDup128(d, woven + q * kBlock * kQuad);
      for (int v = 0; v < V; ++v) sum[q][v] = hn::MulAdd(x, g[v], sum[q][v]);
    }
  }
  for (int q = 0; q < kQuadTile; ++q) {
    for (int v = 0; v < V; ++v) hn::Store(sum[q][v], d, sums + q * stride + v * kLanes);
  }
}

template <int V = kMaxVectors>
HWY_INLINE void sketch_tile_of(int vectors, const float* woven, const float* table, int count, float* sums,
                               size_t stride, const Ahead& ahead) {
  if constexpr (V > 1) {
    if (vectors < V) return sketch_tile_of<V - 1>(vectors, woven, table, count, sums, stride, ahead);
  }
  sketch_tile<V>(woven, table, count, sums, stride, ahead);
}

// energy[r] = the sum of the squares of row r's products, for the four rows of a quad.
HWY_INLINE void quad_energy(const float* HWY_RESTRICT sums, int vectors, float* HWY_RESTRICT energy) {
  const F32 d;
  F32V squares = hn::Zero(d);
  for (int v = 0; v < vectors; ++v) {
    const F32V x = hn::Load(d, sums + v * kLanes);
    squares = hn::MulAdd(x, x, squares);
  }
  store_block_sums(d, squares, energy);
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif
