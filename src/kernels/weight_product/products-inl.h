// The products of simd.cc. Included as byte_dot-inl.h is, and like it without an include guard.

#include "kernels/byte_dot-inl.h"

static_assert(kStripRows == 16, "at most one row of a strip per lane");
// Columns at a time: with their integer sums, what the registers hold.
inline constexpr int kMostColumns = kLanes == 16 ? kTileColumns : kTileColumns / 2;
inline constexpr int kAhead = 4096;  // bytes of codes that are fetched in advance

HWY_INLINE int32_t word(const std::byte* at, int column) {
  int32_t value;
  std::memcpy(&value, at + 4 * column, 4);
  return value;
}
HWY_INLINE float real(const std::byte* at, int column) {
  float value;
  std::memcpy(&value, at + 4 * column, 4);
  return value;
}

HWY_INLINE F32V halves(const std::byte* at) {
  return hn::PromoteTo(F32(), hn::LoadU(F16(), reinterpret_cast<const hwy::float16_t*>(at)));
}
template <class T>
HWY_INLINE F32V small_integers(const std::byte* at) {
  const hn::Rebind<T, I32> bytes;
  return hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(bytes, reinterpret_cast<const T*>(at))));
}

// The first `count` lanes. Not every target can leave out the memory behind them.
HWY_INLINE F32V load_some(const float* at, int count) {
  if (count == kLanes) return hn::LoadU(F32(), at);
  float lanes[kLanes] = {};
  std::memcpy(lanes, at, size_t(count) * sizeof(float));
  return hn::LoadU(F32(), lanes);
}
HWY_INLINE void store_some(F32V v, int count, float* at) {
  if (count == kLanes) return hn::StoreU(v, F32(), at);
  float lanes[kLanes];
  hn::StoreU(v, F32(), lanes);
  std::memcpy(at, lanes, size_t(count) * sizeof(float));
}

// C columns of a tile, from column `first` of it on.
template <int C>
struct Sums {
  I32V dot[C];
  F32V total[C];

  HWY_INLINE Sums() {}  // an implicit one would not be compiled for the target (GCC on ARM)
  HWY_INLINE void start(const std::byte* minus_sum, int shift_of_zero) {
    for (int c = 0; c < C; ++c) dot[c] = hn::Set(I32(), word(minus_sum, c) << shift_of_zero);
  }
  HWY_INLINE void start() {
    for (int c = 0; c < C; ++c) dot[c] = hn::Zero(I32());
  }
  template <int kLargest>
  HWY_INLINE void add_quad(U8V w, const std::byte* quad) {
    for (int c = 0; c < C; ++c) dot[c] = add_dot<kLargest>(dot[c], w, hn::Set(I32(), word(quad, c)));
  }
  HWY_INLINE void finish(F32V scale, const std::byte* column_scale) {
    for (int c = 0; c < C; ++c) {
      const F32V both = hn::Mul(scale, hn::Set(F32(), real(column_scale, c)));
      total[c] = hn::MulAdd(hn::ConvertTo(F32(), dot[c]), both, total[c]);
    }
  }
  HWY_INLINE void add_min(F32V min, const std::byte* scaled_sum) {
    for (int c = 0; c < C; ++c) total[c] = hn::MulAdd(min, hn::Set(F32(), real(scaled_sum, c)), total[c]);
  }
};

// What a block needs: its codes and the scales of its group, both at the first row of the vector.
struct Place {
  const std::byte* codes;
  const std::byte* scales;
  int in_group;  // number of the block in its group of scales
  int row;       // of the strip, first one of the vector
};

template <int C>
HWY_INLINE void add_nibbles(const std::byte* at, const TileBlock<const std::byte>& x, Sums<C>& sums) {
  for (int j = 0; j < kQuads / 2; ++j) {
    const U8V both = codes(at + j * kVectorBytes);
    sums.template add_quad<15>(low_nibbles(both), x.quad(2 * j));
    sums.template add_quad<15>(high_nibbles(both), x.quad(2 * j + 1));
  }
}

// Codes of 4 bits around 8, one scale.
struct Q4_0 {
  static constexpr WeightFormat kFormat = WeightFormat::kQ4_0;
  template <int C>
  static HWY_INLINE void add(const Place& at, const TileBlock<const std::byte>& x, Sums<C>& sums) {
    sums.start(x.minus_sum(), 3);
    add_nibbles(at.codes, x, sums);
    sums.finish(halves(at.scales + 2 * at.row), x.scale());
  }
};

// Codes of 4 bits from 0, a scale and a minimum.
struct Q4_1 {
  static constexpr WeightFormat kFormat = WeightFormat::kQ4_1;
  template <int C>
  static HWY_INLINE void add(const Place& at, const TileBlock<const std::byte>& x, Sums<C>& sums) {
    sums.start();
    add_nibbles(at.codes, x, sums);
    sums.finish(halves(at.scales + 2 * at.row), x.scale());
    sums.add_min(halves(at.scales + 2 * (kStripRows + at.row)), x.scaled_sum());
  }
};

// The same with scales and minima of 6 bits under scales per 256 inputs.
struct Q4K {
  static constexpr WeightFormat kFormat = WeightFormat::kQ4K;
  template <int C>
  static HWY_INLINE void add(const Place& at, const TileBlock<const std::byte>& x, Sums<C>& sums) {
    const std::byte* small = at.scales + (2 + at.in_group) * 2 * kStripRows + at.row;
    const F32V d = halves(at.scales + 2 * at.row), dmin = halves(at.scales + 2 * (kStripRows + at.row));
    sums.start();
    add_nibbles(at.codes, x, sums);
    sums.finish(hn::Mul(d, small_integers<uint8_t>(small)), x.scale());
    sums.add_min(hn::Mul(hn::Neg(dmin), small_integers<uint8_t>(small + kStripRows)), x.scaled_sum());
  }
};

struct Q8_0 {
  static constexpr WeightFormat kFormat = WeightFormat::kQ8_0;
  template <int C>
  static HWY_INLINE void add(const Place& at, const TileBlock<const std::byte>& x, Sums<C>& sums) {
    if constexpr (kSignedCodes) {
      const U8V sign = hn::Set(U8(), 128);  // turning it takes the 128 off again
      sums.start();
      for (int j = 0; j < kQuads; ++j) {
        sums.template add_quad<127>(hn::Xor(codes(at.codes + j * kVectorBytes), sign), x.quad(j));
      }
    } else {
      sums.start(x.minus_sum(), 7);
      for (int j = 0; j < kQuads; ++j) sums.template add_quad<255>(codes(at.codes + j * kVectorBytes), x.quad(j));
    }
    sums.finish(halves(at.scales + 2 * at.row), x.scale());
  }
};

// Codes of 6 bits around 32, signed scales per 16 inputs under one per 256.
struct Q6K {
  static constexpr WeightFormat kFormat = WeightFormat::kQ6K;
  template <int kShift>  // what brings the quad's two upper bits to bits 4 and 5
  static HWY_INLINE U8V upper(U8V v) {
    const auto wide = hn::BitCast(U16(), v);
    const auto moved = kShift >= 0 ? hn::ShiftLeft<(kShift > 0 ? kShift : 0)>(wide) : hn::ShiftRight<(kShift < 0 ? -kShift : 0)>(wide);
    return hn::And(hn::BitCast(U8(), moved), hn::Set(U8(), 0x30));
  }
  template <int C>
  static HWY_INLINE void add(const Place& at, const TileBlock<const std::byte>& x, Sums<C>& sums) {
    const F32V d = halves(at.scales + 2 * at.row);
    for (int half = 0; half < 2; ++half) {
      const std::byte* first = at.codes + half * 3 * kVectorBytes;
      const U8V low0 = codes(first), low1 = codes(first + kVectorBytes), high = codes(first + 2 * kVectorBytes);
      const int quad = 4 * half;
      sums.start(x.minus_half_sum(half), 5);
      sums.template add_quad<63>(hn::Or(low_nibbles(low0), upper<4>(high)), x.quad(quad));
      sums.template add_quad<63>(hn::Or(high_nibbles(low0), upper<2>(high)), x.quad(quad + 1));
      sums.template add_quad<63>(hn::Or(low_nibbles(low1), upper<0>(high)), x.quad(quad + 2));
      sums.template add_quad<63>(hn::Or(high_nibbles(low1), upper<-2>(high)), x.quad(quad + 3));
      const std::byte* small = at.scales + (1 + at.in_group) * 2 * kStripRows + half * kStripRows + at.row;
      sums.finish(hn::Mul(d, small_integers<int8_t>(small)), x.scale());
    }
  }
};

struct Job {
  PackedShape shape;
  const std::byte* strip;        // codes of the strip at hand
  const std::byte* activations;
  int columns;
  const float* bias;  // of the strip's first row, or null
  float* out;         // of the strip's first row
  int rows;           // of the strip that exist
};

// Rows row .. row + kLanes - 1 of the strip, columns first .. first + C - 1.
template <class Format, int C>
HWY_NOINLINE void product_of_columns(const Job& job, int row, int first) {
  constexpr StripLayout kLayout = strip_layout(Format::kFormat);
  const int blocks = job.shape.inputs / kWeightBlock, tile = first / kTileColumns * kTileColumns;
  const std::byte* scales = job.strip + strip_code_bytes(job.shape);
  Place at{job.strip + 4 * row, scales, 0, row};
  TileBlock<const std::byte> x = tile_block(job.activations, blocks, job.columns, tile, 0);
  x.at += 4 * (first - tile);
  Sums<C> sums;
  for (auto& total : sums.total) total = hn::Zero(F32());
  for (int b = 0; b < blocks; ++b) {
    for (int line = 0; line < kLayout.code_bytes; line += 64) hwy::Prefetch(at.codes + kAhead + line);
    Format::add(at, x, sums);
    at.codes += kLayout.code_bytes;
    x.at += x.columns * kColumnBlockBytes;
    if (++at.in_group == kLayout.scale_unit) {
      at.in_group = 0;
      at.scales += kLayout.scale_bytes;
    }
  }
  const int exist = std::min(job.rows - row, kLanes);
  const F32V bias = job.bias ? load_some(job.bias + row, exist) : hn::Zero(F32());
  for (int c = 0; c < C; ++c) {
    const F32V sum = job.bias ? hn::Add(sums.total[c], bias) : sums.total[c];
    store_some(sum, exist, job.out + size_t(first + c) * job.shape.rows + row);
  }
}

template <class Format, int C>
HWY_INLINE void product_of_up_to(const Job& job, int row, int first, int count) {
  if constexpr (C > 1) {
    if (count < C) return product_of_up_to<Format, C - 1>(job, row, first, count);
  }
  product_of_columns<Format, C>(job, row, first);
}

template <class Format>
HWY_NOINLINE void products(Job job, const std::byte* packed, int first, int last) {
  const float* bias = job.bias;
  float* out = job.out;
  for (int s = first; s < last; ++s) {
    job.strip = packed + size_t(s) * strip_bytes(job.shape);
    job.rows = std::min(kStripRows, job.shape.rows - s * kStripRows);
    job.bias = bias ? bias + s * kStripRows : nullptr;
    job.out = out + s * kStripRows;
    for (int row = 0; row < job.rows; row += kLanes) {
      for (int c = 0; c < job.columns; c += kMostColumns) {
        product_of_up_to<Format, kMostColumns>(job, row, c, std::min(kMostColumns, job.columns - c));
      }
    }
  }
}

void product(const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns, int first, int last,
             const float* bias, float* out) {
  const Job job{shape, packed, activations, columns, bias, out, 0};
  switch (shape.format) {
    case WeightFormat::kQ4_0: return products<Q4_0>(job, packed, first, last);
    case WeightFormat::kQ4_1: return products<Q4_1>(job, packed, first, last);
    case WeightFormat::kQ8_0: return products<Q8_0>(job, packed, first, last);
    case WeightFormat::kQ4K: return products<Q4K>(job, packed, first, last);
    case WeightFormat::kQ6K: return products<Q6K>(job, packed, first, last);
  }
}
