// The products of simd.cc. Included as byte_dot-inl.h is, and like it without an include guard.
//
// A query (or a weight times the scales of values) of one block is `unit` times a whole number n of 24 bits, kept as three
// signed bytes: n = n0 + 256 n1 + 65536 n2. A code is the stored number plus an offset, so
//   sum number n = sum code n - offset sum n,
// where the last term is where the sums begin. Sums of one byte stay below 2^24: 256 codes of 8 bits times a signed byte.

#include "kernels/byte_dot-inl.h"

static_assert(kStripSlots == 16, "at most one slot of a strip per lane");

inline constexpr int kDigits = 3;                // signed bytes of a whole number
inline constexpr float kLargestWhole = 8355711;  // 127 (1 + 256 + 65536): no byte of it overflows

// Heads whose sums stay in registers beside the operands.
inline constexpr int kTileHeads = kLanes == 16 ? 4 : 1;

// What stands for the offset of codes with this many bits, where codes have no sign.
template <CodeBits kBits>
inline constexpr int kOffset = kSignedCodes && kBits == CodeBits::k8 ? 0 : code_offset(kBits);

// Whole numbers of one block of one head, byte by byte, and what they stand for.
template <int kCount>
struct Whole {
  alignas(64) int8_t digits[kDigits][kCount];
  float unit;              // NaN when a number is not finite
  int32_t begin[kDigits];  // -offset times the sum of the bytes
};

// Splits numbers below kLargestWhole into signed bytes, which it adds to sums.
template <int kCount>
HWY_INLINE void store_digits(I32V rest, int at, Whole<kCount>& out, I32V (&sums)[kDigits]) {
  const hn::Rebind<int8_t, I32> bytes;
  for (int digit = 0; digit < kDigits; ++digit) {
    const I32V low = hn::ShiftRight<24>(hn::ShiftLeft<24>(rest));
    hn::StoreU(hn::DemoteTo(bytes, low), bytes, out.digits[digit] + at);
    sums[digit] = hn::Add(sums[digit], low);
    rest = hn::ShiftRight<8>(hn::Sub(rest, low));
  }
}

// load(i): numbers i .. i + kLanes - 1.
template <CodeBits kBits, int kCount, class Load>
HWY_INLINE void to_whole(const Load& load, Whole<kCount>& out) {
  const F32 d;
  const I32 di;
  F32V largest = hn::Zero(d), poison = hn::Zero(d);
  for (int i = 0; i < kCount; i += kLanes) {
    const F32V x = load(i);
    largest = hn::Max(largest, hn::Abs(x));
    poison = hn::MulAdd(x, hn::Zero(d), poison);  // NaN once a number is not finite
  }
  const float most = hn::GetLane(hn::MaxOfLanes(d, largest)) + hn::GetLane(hn::SumOfLanes(d, poison));
  // A block of tiny numbers, whose inverse is not finite, counts as 0; NaN goes into the unit.
  const bool tiny = !(most > kLargestWhole * std::numeric_limits<float>::min());
  out.unit = tiny ? most * 0 : most / kLargestWhole;
  const F32V inverse = hn::Set(d, tiny ? 0.0f : kLargestWhole / most);
  const F32V limit = hn::Set(d, kLargestWhole);
  I32V sums[kDigits] = {hn::Zero(di), hn::Zero(di), hn::Zero(di)};
  for (int i = 0; i < kCount; i += kLanes) {
    const F32V scaled = hn::Max(hn::Min(hn::Mul(load(i), inverse), limit), hn::Neg(limit));
    store_digits(hn::NearestInt(scaled), i, out, sums);
  }
  for (int digit = 0; digit < kDigits; ++digit) out.begin[digit] = -kOffset<kBits> * hn::GetLane(hn::SumOfLanes(di, sums[digit]));
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
        int32_t four;
        std::memcpy(&four, whole[h * stride].digits[digit] + at, sizeof four);
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

// Logits of kLanes slots of a strip, from slot `lane` of it on, for kHeads heads.
template <CodeBits kBits, int kHeads>
HWY_INLINE void dot_lanes(const StripDots& args, const std::byte* strip, int lane, const Whole<kStripBlock>* whole, float* logits) {
  const F32 d;
  constexpr size_t kQuadBytes = kStripSlots * kQuad;
  const int blocks = args.keys.width / kStripBlock;
  F32V total[kHeads];
  for (F32V& one : total) one = hn::Zero(d);
  for (int b = 0; b < blocks; ++b) {
    DigitSums<kHeads> sums;
    sums.start(whole + b, blocks);
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
    const std::byte* const strip = args.keys.strip((args.first + slot) / kStripSlots);
    for (int lane = 0; lane < kStripSlots; lane += kLanes) {
      dot_lanes<kBits, kHeads>(args, strip, lane, whole, logits + slot + lane);
    }
  }
}

// What to_whole() loads from; a lambda would not be compiled for VASE_BYTE_DOT_TARGET.
struct Floats {
  const float* from;
  HWY_INLINE F32V operator()(int i) const { return hn::LoadU(F32(), from + i); }
};

template <CodeBits kBits>
HWY_INLINE void dots(const StripDots& args) {
  constexpr int kMostBlocks = kWidestStrip / kStripBlock;
  Whole<kStripBlock> whole[kTileHeads * kMostBlocks];
  const int blocks = args.keys.width / kStripBlock;
  for (int h = 0; h < args.heads;) {
    const int heads = args.heads - h >= kTileHeads ? kTileHeads : 1;
    for (int i = 0; i < heads * blocks; ++i) {
      const float* query = args.queries + (size_t(h) * blocks + i) * kStripBlock;
      to_whole<kBits>(Floats{query}, whole[i]);
    }
    float* const logits = args.logits + h * args.logit_stride;
    heads == kTileHeads ? dot_heads<kBits, kTileHeads>(args, whole, logits) : dot_heads<kBits, 1>(args, whole, logits);
    h += heads;
  }
}

// Values of one block, kLanes channels from `lane` of it on, for kHeads heads.
template <CodeBits kBits, int kHeads>
HWY_INLINE void sum_lanes(const StripSums& args, int block, int lane, const Whole<kStripSum>* whole, float* out) {
  const F32 d;
  constexpr size_t kQuadBytes = kStripBlock * kQuad;
  DigitSums<kHeads> sums;
  sums.start(whole, 1);
  for (int slot = 0; slot < args.slots; slot += kStripSlots) {
    const std::byte* pair = args.values.strip((args.first + slot) / kStripSlots) + block * block_code_bytes(kBits) + lane * kQuad;
    for (int i = 0; i < kStripSlots; i += 2 * kQuad, pair += pair_bytes<kBits>(kQuadBytes)) {
      sums.template add_pair<kBits>(pair, kQuadBytes, whole, 1, slot + i);
    }
  }
  for (int h = 0; h < kHeads; ++h) {
    float* const to = out + size_t(h) * args.values.width + block * kStripBlock + lane;
    hn::StoreU(hn::MulAdd(sums.joined(h), hn::Set(d, whole[h].unit), hn::LoadU(d, to)), d, to);
  }
}

template <CodeBits kBits, int kHeads>
HWY_NOINLINE void sum_heads(const StripSums& args, int block, const Whole<kStripSum>* whole, float* out) {
  for (int lane = 0; lane < kStripBlock; lane += kLanes) sum_lanes<kBits, kHeads>(args, block, lane, whole, out);
}

// Weights times the scales of a block; 0 for slots that are not used, which may hold anything.
struct ScaledWeights {
  const StripSums& args;
  int block;
  const float* weights;
  HWY_INLINE F32V operator()(int slot) const {
    const F32 d;
    if (slot >= args.slots) return hn::Zero(d);
    const std::byte* const strip = args.values.strip((args.first + slot) / kStripSlots);
    const F32V scale = scales_at(strip + scale_place(args.values.bits, args.values.width, slot % kStripSlots, block));
    const int left = args.slots - slot;
    if (left >= kLanes) return hn::Mul(scale, hn::LoadU(d, weights + slot));
    float some[kLanes] = {};
    std::memcpy(some, weights + slot, left * sizeof(float));
    return hn::IfThenElseZero(hn::FirstN(d, left), hn::Mul(scale, hn::LoadU(d, some)));
  }
};

template <CodeBits kBits>
HWY_INLINE void sums(const StripSums& args) {
  Whole<kStripSum> whole[kTileHeads];
  for (int block = 0; block < args.values.width / kStripBlock; ++block) {
    for (int h = 0; h < args.heads;) {
      const int heads = args.heads - h >= kTileHeads ? kTileHeads : 1;
      for (int i = 0; i < heads; ++i) {
        const float* weights = args.weights + (h + i) * args.weight_stride;
        to_whole<kBits>(ScaledWeights{args, block, weights}, whole[i]);
      }
      float* const out = args.out + size_t(h) * args.values.width;
      heads == kTileHeads ? sum_heads<kBits, kTileHeads>(args, block, whole, out) : sum_heads<kBits, 1>(args, block, whole, out);
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
