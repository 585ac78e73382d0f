// The products of simd.cc. Included as byte_dot-inl.h is, and like it without an include guard.
//
// A query (or a weight times the scales of values) of one block is `unit` times a whole number n of 23 bits, kept as three
// signed bytes: n = n0 + 256 n1 + 65536 n2. A code is the stored number plus an offset, so
//   sum number n = sum code n - offset sum n,
// where the last term is where the sums begin. Sums of one byte stay below 2^24: 256 codes of 8 bits times a signed byte.

#include "kernels/byte_dot-inl.h"

static_assert(kStripSlots == 16, "at most one slot of a strip per lane");

inline constexpr int kDigits = 3;                // signed bytes of a whole number
inline constexpr float kLargestWhole = 4194000;  // below 2^22, within which adding kRounder rounds

// Floats from 2^23 to 2^24 are whole numbers, so adding this rounds, and leaves kRounderBits + n in the bits.
inline constexpr float kRounder = 12582912;
inline constexpr int32_t kRounderBits = 0x4B400000;
// n + kByteBias has the bytes of n in base 256, each 128 too large.
inline constexpr int32_t kByteBias = 0x00808080;

// Heads whose sums stay in registers beside the operands.
inline constexpr int kTileHeads = kLanes == 16 ? 4 : 2;

// What stands for the offset of codes with this many bits, where codes have no sign.
template <CodeBits kBits>
inline constexpr int kOffset = kSignedCodes && kBits == CodeBits::k8 ? 0 : code_offset(kBits);

// Up to kCount whole numbers of one head, and what they stand for.
template <int kCount>
struct Whole {
  alignas(64) int32_t quads[kCount / kQuad][kQuad];  // [numbers 4i to 4i + 3][byte of theirs]; the fourth byte is not used
  float unit;              // NaN when a number is not finite
  int32_t begin[kDigits];  // -offset times the sum of the bytes
};

// x with the lanes of every second run of `half` lanes changed for those of the first.
template <int half>
HWY_INLINE F32V swapped(F32V x) {
  const F32 d;
  if constexpr (half == 1) return hn::Shuffle2301(x);
  else if constexpr (half == 2) return hn::Shuffle1032(x);
  else if constexpr (half == kLanes / 2) return hn::ConcatLowerUpper(d, x, x);
  else return hn::SwapAdjacentBlocks(x);
}

// 1 in the first of two runs of lanes, -1 in the second.
template <int half>
constexpr std::array<float, kLanes> signs() {
  std::array<float, kLanes> all{};
  for (int i = 0; i < kLanes; ++i) all[i] = (i & half) == 0 ? 1.0f : -1.0f;
  return all;
}

// Sums in the first of two runs of lanes, differences in the second.
template <int half>
HWY_INLINE F32V butterfly(F32V x) {
  alignas(64) static constexpr std::array<float, kLanes> kSigns = signs<half>();
  return hn::MulAdd(x, hn::Load(F32(), kSigns.data()), swapped<half>(x));
}

template <int half>
HWY_INLINE F32V butterflies(F32V x) {
  x = butterfly<half>(x);
  if constexpr (half > 1) return butterflies<half / 2>(x);
  return x;
}

// mix_block() from x to out.
HWY_INLINE void mix(const float* x, float* out) {
  const F32 d;
  constexpr int kVectors = kStripBlock / kLanes;
  F32V v[kVectors];
  for (int i = 0; i < kVectors; ++i) v[i] = hn::LoadU(d, x + i * kLanes);
  for (int half = kVectors / 2; half > 0; half /= 2) {
    for (int i = 0; i < kVectors; ++i) {
      if ((i & half) != 0) continue;
      const F32V a = v[i], b = v[i + half];
      v[i] = hn::Add(a, b);
      v[i + half] = hn::Sub(a, b);
    }
  }
  const F32V scale = hn::Set(d, kMixingScale);
  for (int i = 0; i < kVectors; ++i) hn::StoreU(hn::Mul(butterflies<kLanes / 2>(v[i]), scale), d, out + i * kLanes);
}

// Bit pattern of the largest magnitude. That of a number that is not finite is larger than all others.
HWY_INLINE uint32_t largest_bits(const float* x, int count) {
  const hn::RebindToUnsigned<I32> du;
  auto most = hn::Zero(du);
  for (int i = 0; i < count; i += kLanes) most = hn::Max(most, hn::BitCast(du, hn::Abs(hn::LoadU(F32(), x + i))));
  return hn::GetLane(hn::MaxOfLanes(du, most));
}

// For TableLookupBytes: the bytes of four numbers, from number by number to byte by byte.
HWY_INLINE U8V byte_by_byte() {
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return hn::LoadDup128(U8(), kOrder);
}

// count: a multiple of kLanes, at most kCount.
template <CodeBits kBits, int kCount>
HWY_INLINE void to_whole(const float* x, int count, Whole<kCount>& out) {
  const F32 d;
  const I32 di;
  const float most = std::bit_cast<float>(largest_bits(x, count));
  // A block of tiny numbers, whose inverse is not finite, counts as 0; NaN goes into the unit.
  const bool tiny = !(most > kLargestWhole * std::numeric_limits<float>::min());
  out.unit = tiny ? most * 0 : most / kLargestWhole + most * 0;
  const F32V inverse = hn::Set(d, tiny ? 0.0f : kLargestWhole / most);
  const I32V bias = hn::Set(di, kByteBias - kRounderBits), sign = hn::Set(di, 0x80808080);
  const U8V order = byte_by_byte();
  const U8V offset = hn::Set(U8(), kOffset<kBits>);
  I32V sums = hn::Zero(di);  // of every byte of the numbers of a 128-bit block, times the offset
  for (int i = 0; i < count; i += kLanes) {
    const F32V rounded = hn::MulAdd(hn::LoadU(d, x + i), inverse, hn::Set(d, kRounder));
    const I32V biased = hn::Xor(hn::Add(hn::BitCast(di, rounded), bias), sign);
    const I32V bytes = hn::BitCast(di, hn::TableLookupBytes(hn::BitCast(U8(), biased), order));
    hn::StoreU(bytes, di, &out.quads[i / kQuad][0]);
    if constexpr (kOffset<kBits> != 0) sums = add_dot<code_offset(kBits)>(sums, offset, bytes);
  }
  int32_t lanes[kLanes];
  hn::StoreU(sums, di, lanes);
  for (int digit = 0; digit < kDigits; ++digit) {
    out.begin[digit] = 0;
    for (int i = digit; i < kLanes; i += kQuad) out.begin[digit] -= lanes[i];
  }
}

// The sums of kHeads heads, byte by byte.
template <int kHeads>
struct DigitSums {
  I32V of[kHeads][kDigits];

  HWY_INLINE DigitSums() {}  // an implicit one would not be compiled for the target (GCC on ARM)

  template <int kCount>
  HWY_INLINE void start(const Whole<kCount>* whole, int stride) {
    for (int h = 0; h < kHeads; ++h) {
      for (int digit = 0; digit < kDigits; ++digit) of[h][digit] = hn::Set(I32(), whole[h * stride].begin[digit]);
    }
  }

  // += codes times the four numbers from `at` on. whole: that of head h is whole[h * stride].
  template <CodeBits kBits, int kCount>
  HWY_INLINE void add(U8V codes, const Whole<kCount>* whole, int stride, int at) {
    constexpr int kLargest = kBits == CodeBits::k4 ? 15 : kSignedCodes ? 127 : 255;
    if (kBits == CodeBits::k8 && kSignedCodes) codes = hn::Xor(codes, hn::Set(U8(), 128));  // takes the 128 off again
    for (int h = 0; h < kHeads; ++h) {
      for (int digit = 0; digit < kDigits; ++digit) {
        const int32_t four = whole[h * stride].quads[at / kQuad][digit];
        of[h][digit] = add_dot<kLargest>(of[h][digit], codes, hn::Set(I32(), four));
      }
    }
  }

  // Two neighbouring quads of codes, and the eight numbers that belong to them.
  template <CodeBits kBits, int kCount>
  HWY_INLINE void add_pair(const std::byte* pair, size_t quad_bytes, const Whole<kCount>* whole, int stride, int at) {
    const U8V first = codes(pair);
    if constexpr (kBits == CodeBits::k8) {
      add<kBits>(first, whole, stride, at);
      add<kBits>(codes(pair + quad_bytes), whole, stride, at + kQuad);
    } else {
      add<kBits>(low_nibbles(first), whole, stride, at);
      add<kBits>(high_nibbles(first), whole, stride, at + kQuad);
    }
  }

  HWY_INLINE F32V joined(int h) const {
    const F32 d;
    const F32V byte = hn::Set(d, 256.0f);
    const F32V high = hn::MulAdd(hn::ConvertTo(d, of[h][2]), byte, hn::ConvertTo(d, of[h][1]));
    return hn::MulAdd(high, byte, hn::ConvertTo(d, of[h][0]));
  }
};

// Bytes from one pair of quads to the next.
template <CodeBits kBits>
constexpr size_t pair_bytes(size_t quad_bytes) {
  return kBits == CodeBits::k8 ? 2 * quad_bytes : quad_bytes;
}

HWY_INLINE F32V scales_at(const std::byte* at) {
  return kernels::HWY_NAMESPACE::promote_half(F32(), hn::LoadU(hn::Rebind<uint16_t, F32>(), reinterpret_cast<const uint16_t*>(at)));
}

// One part of the strips that are to come, of kSteps for each block: fetches that of the strip in the place of the one
// with a slot. The strips are as wide as those that are worked on.
template <int kSteps>
class PartFetch {
 public:
  HWY_INLINE PartFetch(const NextStrips& next, int part) : next_(next), bytes_(block_bytes(next.strips.bits) / kSteps) {
    begin_ = part * bytes_;
  }
  HWY_INLINE void strip_of(int slot) const {
    if (!next_.strips.base) return;
    const std::byte* const from = next_.strips.strip((next_.first + slot) / kStripSlots) + begin_;
    for (size_t at = 0; at < bytes_; at += 64) __builtin_prefetch(from + at, 0, 2);
  }

 private:
  const NextStrips& next_;
  size_t bytes_, begin_;
};

// Logits of kLanes slots of a strip, from slot `lane` of it on, for kHeads heads.
template <CodeBits kBits, int kHeads>
HWY_INLINE void dot_lanes(const StripDots& args, int slot, int lane, const Whole<kStripBlock>* whole, float* logits) {
  const F32 d;
  constexpr size_t kQuadBytes = kStripSlots * kQuad;
  constexpr int kSteps = kStripSlots / kLanes;
  const int blocks = args.keys.width / kStripBlock;
  const std::byte* const strip = args.keys.strip((args.first + slot) / kStripSlots);
  F32V total[kHeads];
  for (F32V& one : total) one = hn::Zero(d);
  for (int b = 0; b < blocks; ++b) {
    DigitSums<kHeads> sums;
    sums.start(whole + b, blocks);
    PartFetch<kSteps>(args.next, b * kSteps + lane / kLanes).strip_of(slot);
    const std::byte* pair = strip + b * block_code_bytes(kBits) + lane * kQuad;
    for (int channel = 0; channel < kStripBlock; channel += 2 * kQuad, pair += pair_bytes<kBits>(kQuadBytes)) {
      sums.template add_pair<kBits>(pair, kQuadBytes, whole + b, blocks, channel);
    }
    const F32V scale = scales_at(strip + scale_place(kBits, args.keys.width, lane, b));
    for (int h = 0; h < kHeads; ++h) {
      total[h] = hn::MulAdd(sums.joined(h), hn::Mul(scale, hn::Set(d, whole[h * blocks + b].unit)), total[h]);
    }
  }
  for (int h = 0; h < kHeads; ++h) hn::StoreU(total[h], d, logits + h * args.logit_stride);
}

template <CodeBits kBits, int kHeads>
HWY_NOINLINE void dot_heads(const StripDots& args, const Whole<kStripBlock>* whole, float* logits) {
  for (int slot = 0; slot < args.slots; slot += kStripSlots) {
    for (int lane = 0; lane < kStripSlots; lane += kLanes) {
      dot_lanes<kBits, kHeads>(args, slot, lane, whole, logits + slot + lane);
    }
  }
}

// Heads of tile i of `tiles` with so many still to come: nearly as many in each.
HWY_INLINE int heads_of_tile(int left, int tiles, int i) { return left / (tiles - i); }
HWY_INLINE int tiles_of(int heads) { return (heads + kTileHeads - 1) / kTileHeads; }

// dot_heads() of 1 to kMost heads.
template <CodeBits kBits, int kMost>
HWY_INLINE void dot_tile(int heads, const StripDots& args, const Whole<kStripBlock>* whole, float* logits) {
  if constexpr (kMost > 1) {
    if (heads < kMost) return dot_tile<kBits, kMost - 1>(heads, args, whole, logits);
  }
  dot_heads<kBits, kMost>(args, whole, logits);
}

template <CodeBits kBits>
HWY_INLINE void dots(const StripDots& args) {
  constexpr int kMostBlocks = kWidestStrip / kStripBlock;
  Whole<kStripBlock> whole[kTileHeads * kMostBlocks];
  const int blocks = args.keys.width / kStripBlock, tiles = tiles_of(args.heads);
  StripDots others = args;
  others.next = {};  // the first tile fetches
  for (int tile = 0, h = 0; tile < tiles; ++tile) {
    const int heads = heads_of_tile(args.heads - h, tiles, tile);
    for (int i = 0; i < heads * blocks; ++i) {
      const float* const query = args.queries + (size_t(h) * blocks + i) * kStripBlock;
      alignas(64) float mixed[kStripBlock];
      if constexpr (is_mixed(kBits)) mix(query, mixed);
      to_whole<kBits>(is_mixed(kBits) ? mixed : query, kStripBlock, whole[i]);
    }
    dot_tile<kBits, kTileHeads>(heads, tile == 0 ? args : others, whole, args.logits + h * args.logit_stride);
    h += heads;
  }
}

// Values of one block, kLanes channels from `lane` of it on, for kHeads heads. out[head * stride]: that lane's.
template <CodeBits kBits, int kHeads>
HWY_INLINE void sum_lanes(const StripSums& args, int block, int lane, const Whole<kStripSum>* whole, float* out,
                          ptrdiff_t stride) {
  const F32 d;
  constexpr size_t kQuadBytes = kStripBlock * kQuad;
  DigitSums<kHeads> sums;
  sums.start(whole, 1);
  const PartFetch<kStripBlock / kLanes> next(args.next, (block * kStripBlock + lane) / kLanes);
  for (int slot = 0; slot < args.slots; slot += kStripSlots) {
    next.strip_of(slot);
    const std::byte* pair = args.values.strip((args.first + slot) / kStripSlots) + block * block_code_bytes(kBits) + lane * kQuad;
    for (int i = 0; i < kStripSlots; i += 2 * kQuad, pair += pair_bytes<kBits>(kQuadBytes)) {
      sums.template add_pair<kBits>(pair, kQuadBytes, whole, 1, slot + i);
    }
  }
  for (int h = 0; h < kHeads; ++h) {
    float* const to = out + h * stride;
    hn::StoreU(hn::MulAdd(sums.joined(h), hn::Set(d, whole[h].unit), hn::LoadU(d, to)), d, to);
  }
}

template <CodeBits kBits, int kHeads>
HWY_NOINLINE void sum_heads(const StripSums& args, int block, const Whole<kStripSum>* whole, float* out) {
  const F32 d;
  alignas(64) float mixed[kHeads][kStripBlock] = {};
  float* const own = out + block * kStripBlock;
  float* const to = is_mixed(kBits) ? mixed[0] : own;
  const ptrdiff_t stride = is_mixed(kBits) ? kStripBlock : args.values.width;
  for (int lane = 0; lane < kStripBlock; lane += kLanes) sum_lanes<kBits, kHeads>(args, block, lane, whole, to + lane, stride);
  if constexpr (is_mixed(kBits)) {
    for (int h = 0; h < kHeads; ++h) {
      mix(mixed[h], mixed[h]);
      float* const head = own + size_t(h) * args.values.width;
      for (int i = 0; i < kStripBlock; i += kLanes) {
        hn::StoreU(hn::Add(hn::LoadU(d, head + i), hn::Load(d, mixed[h] + i)), d, head + i);
      }
    }
  }
}

// out[head][s] = weights times the scales of a block for `heads` heads; 0 behind the last slot, where a strip may hold anything.
HWY_INLINE void scaled_weights(const StripSums& args, int block, const float* weights, int heads, float (*out)[kStripSum]) {
  const F32 d;
  for (int slot = 0; slot < args.slots; slot += kLanes) {
    const std::byte* const strip = args.values.strip((args.first + slot) / kStripSlots);
    const F32V scale = scales_at(strip + scale_place(args.values.bits, args.values.width, slot % kStripSlots, block));
    const int left = args.slots - slot;
    for (int h = 0; h < heads; ++h) {
      const float* const from = weights + h * args.weight_stride + slot;
      if (left >= kLanes) {
        hn::Store(hn::Mul(scale, hn::LoadU(d, from)), d, out[h] + slot);
        continue;
      }
      std::fill_n(std::copy_n(from, left, out[h] + slot), kLanes - left, 0.0f);
      const F32V product = hn::Mul(scale, hn::Load(d, out[h] + slot));
      hn::Store(hn::IfThenElseZero(hn::FirstN(d, left), product), d, out[h] + slot);
    }
  }
  const int end = (args.slots + kLanes - 1) / kLanes * kLanes, whole_strips = padded_to_strips(args.slots);
  for (int h = 0; h < heads; ++h) std::fill(out[h] + end, out[h] + whole_strips, 0.0f);
}

// sum_heads() of 1 to kMost heads.
template <CodeBits kBits, int kMost>
HWY_INLINE void sum_tile(int heads, const StripSums& args, int block, const Whole<kStripSum>* whole, float* out) {
  if constexpr (kMost > 1) {
    if (heads < kMost) return sum_tile<kBits, kMost - 1>(heads, args, block, whole, out);
  }
  sum_heads<kBits, kMost>(args, block, whole, out);
}

template <CodeBits kBits>
HWY_INLINE void sums(const StripSums& args) {
  alignas(64) float scaled[kTileHeads][kStripSum];
  Whole<kStripSum> whole[kTileHeads];
  const int tiles = tiles_of(args.heads);
  StripSums others = args;
  others.next = {};  // the first tile fetches
  for (int block = 0; block < args.values.width / kStripBlock; ++block) {
    for (int tile = 0, h = 0; tile < tiles; ++tile) {
      const int heads = heads_of_tile(args.heads - h, tiles, tile);
      scaled_weights(args, block, args.weights + h * args.weight_stride, heads, scaled);
      for (int i = 0; i < heads; ++i) to_whole<kBits>(scaled[i], padded_to_strips(args.slots), whole[i]);
      sum_tile<kBits, kTileHeads>(heads, tile == 0 ? args : others, block, whole, args.out + size_t(h) * args.values.width);
      h += heads;
    }
  }
}

HWY_NOINLINE void dots_of(const StripDots& args) {
  args.keys.bits == CodeBits::k8 ? dots<CodeBits::k8>(args) : dots<CodeBits::k4>(args);
}

HWY_NOINLINE void sums_of(const StripSums& args) {
  args.values.bits == CodeBits::k8 ? sums<CodeBits::k8>(args) : sums<CodeBits::k4>(args);
}
