// The logits of key_offset.h on Highway: a vector of slots at a time, whose angles all heads share.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/key_offset/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernels/key_offset/fused.h"
#include "kernels/rows-inl.h"
#include "kernels/simd_target.h"
#include "kernels/strips/layout.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::HWY_NAMESPACE::F32;
using kernels::HWY_NAMESPACE::F32V;
using OffsetLanes = hn::RebindToSigned<F32>;

constexpr int kOffsetLanes = kernels::HWY_NAMESPACE::kLanes;
static_assert(kStripSlots % kOffsetLanes == 0, "logits have room up to the next strip");

struct Angles {
  F32V cos, sin;
};

// coefficients[0] + coefficients[1] x + ...
template <size_t kCount>
HWY_INLINE F32V polynomial(const float (&coefficients)[kCount], F32V x) {
  const F32 d;
  F32V sum = hn::Set(d, coefficients[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

// Of angles in 2^-32 of a turn. Those of the left half plane are turned by half a turn, which changes both signs; within a
// quarter of 0 the polynomials, through the Chebyshev points of its square, are off by less than 2e-8.
HWY_INLINE Angles angles_of(hn::Vec<OffsetLanes> turn) {
  static constexpr float kSine[] = {1.0f, -0.16666658f, 0.00833305f, -0.00019809017f, 2.6051077e-06f};
  static constexpr float kCosine[] = {1.0f,           -0.5f,           0.04166666f,
                                      -0.0013888652f, 2.477458e-05f, -2.6297516e-07f};
  const F32 d;
  const OffsetLanes di;
  const auto flip = hn::And(hn::Add(turn, hn::Set(di, 1 << 30)), hn::Set(di, std::numeric_limits<int32_t>::min()));
  const F32V t = hn::Mul(hn::ConvertTo(d, hn::Xor(turn, flip)), hn::Set(d, 1.46291807926715968e-9f));  // pi / 2^31
  const F32V t2 = hn::Mul(t, t), sign = hn::BitCast(d, flip);
  return {.cos = hn::Xor(polynomial(kCosine, t2), sign), .sin = hn::Xor(hn::Mul(polynomial(kSine, t2), t), sign)};
}

constexpr int kPairs = 8;   // whose angles stay in registers
constexpr int kHeads = 32;  // that share the angles of some slots

// Some pairs, and the products of some heads' queries with them: along each pair, and across. Where there are no more pairs
// all is 0.
struct Block {
  int32_t turn[kPairs] = {};
  float along[kHeads][kPairs] = {}, across[kHeads][kPairs] = {};
  int heads = 0;
};

void fill(const OffsetLogits& args, int first_pair, int first_head, Block& block) {
  const KeyOffset& offset = *args.offset;
  const int pairs = std::min(kPairs, offset.pairs() - first_pair);
  block.heads = std::min(kHeads, args.heads - first_head);
  for (int p = 0; p < pairs; ++p) {
    const int i = first_pair + p, y = offset.y_channel[i];
    block.turn[p] = static_cast<int32_t>(offset.turn[i]);
    for (int h = 0; h < block.heads; ++h) {
      const float* const query = args.queries + size_t(first_head + h) * args.width;
      const float qx = query[offset.x_channel[i]], qy = y < 0 ? 0.0f : query[y];
      block.along[h][p] = qx * offset.x[i] + qy * offset.y[i];
      block.across[h][p] = qy * offset.x[i] - qx * offset.y[i];
    }
  }
}

// Of kOffsetLanes slots. logits: of the block's first head, at the first of these slots.
HWY_INLINE void add_block(const Block& block, const int32_t* positions, float* logits, ptrdiff_t stride) {
  const F32 d;
  const OffsetLanes di;
  const auto at_slots = hn::LoadU(di, positions);
  Angles at[kPairs];
  for (int p = 0; p < kPairs; ++p) at[p] = angles_of(hn::Mul(hn::Set(di, block.turn[p]), at_slots));
  for (int h = 0; h < block.heads; ++h) {
    F32V along = hn::LoadU(d, logits + h * stride), across = hn::Zero(d);
    for (int p = 0; p < kPairs; ++p) {
      along = hn::MulAdd(at[p].cos, hn::Set(d, block.along[h][p]), along);
      across = hn::MulAdd(at[p].sin, hn::Set(d, block.across[h][p]), across);
    }
    hn::StoreU(hn::Add(along, across), d, logits + h * stride);
  }
}

void AddOffsetLogits(const OffsetLogits& args) {
  note_simd_target(HWY_TARGET);
  for (int pair = 0; pair < args.offset->pairs(); pair += kPairs) {
    for (int head = 0; head < args.heads; head += kHeads) {
      Block block;
      fill(args, pair, head, block);
      for (int first = 0; first < args.slots; first += kOffsetLanes) {
        int32_t positions[kOffsetLanes] = {};
        std::copy_n(args.positions + first, std::min(kOffsetLanes, args.slots - first), positions);
        add_block(block, positions, args.logits + head * args.logit_stride + first, args.logit_stride);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vase::kernels::fused {

HWY_EXPORT(AddOffsetLogits);

void add_offset_logits(const OffsetLogits& args) { HWY_DYNAMIC_DISPATCH(AddOffsetLogits)(args); }

}  // namespace vase::kernels::fused
#endif
