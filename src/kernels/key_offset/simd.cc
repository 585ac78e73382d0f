// The logits of key_offset.h on Highway: kLanes slots at a time, whose angles all heads share.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/key_offset/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

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

struct Angles {
  F32V cos, sin;
};

// Of angles in 2^-32 of a turn. Within an eighth of a turn of a quarter they are the Taylor series up to t^9 and t^10, whose
// remainders are below 2e-9.
HWY_INLINE Angles angles_of(hn::Vec<OffsetLanes> turn) {
  const F32 d;
  const OffsetLanes di;
  // The nearest quarter, 2^30 of these units, and what remains.
  const auto quarter = hn::ShiftRight<30>(hn::Add(turn, hn::Set(di, 1 << 29)));
  const auto rest = hn::Sub(turn, hn::ShiftLeft<30>(quarter));
  const F32V t = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, 1.46291807926715968e-9f));  // pi / 2^31
  const F32V t2 = hn::Mul(t, t);
  F32V sine = hn::Set(d, 1.0f / 362880), cosine = hn::Set(d, -1.0f / 3628800);
  for (const float c : {-1.0f / 5040, 1.0f / 120, -1.0f / 6, 1.0f}) sine = hn::MulAdd(sine, t2, hn::Set(d, c));
  for (const float c : {1.0f / 40320, -1.0f / 720, 1.0f / 24, -0.5f, 1.0f}) cosine = hn::MulAdd(cosine, t2, hn::Set(d, c));
  sine = hn::Mul(sine, t);
  const auto bit = [&](auto v, int mask) HWY_ATTR {
    return hn::RebindMask(d, hn::Ne(hn::And(v, hn::Set(di, mask)), hn::Zero(di)));
  };
  const auto odd = bit(quarter, 1);
  const F32V s = hn::IfThenElse(odd, cosine, sine), c = hn::IfThenElse(odd, sine, cosine);
  return {.cos = hn::IfThenElse(bit(hn::Add(quarter, hn::Set(di, 1)), 2), hn::Neg(c), c),
          .sin = hn::IfThenElse(bit(quarter, 2), hn::Neg(s), s)};
}

// The product of a head's query with a pair: along it, and across.
struct Projection {
  float along, across;
};
HWY_INLINE Projection project(const KeyOffset& offset, int i, const float* query) {
  const float qx = query[offset.x_channel[i]], qy = offset.y_channel[i] < 0 ? 0.0f : query[offset.y_channel[i]];
  return {qx * offset.x[i] + qy * offset.y[i], qy * offset.x[i] - qx * offset.y[i]};
}

void AddOffsetLogits(const OffsetLogits& args) {
  note_simd_target(HWY_TARGET);
  constexpr int kChunk = kStripSlots;  // slots whose angles are at hand
  const F32 d;
  const OffsetLanes di;
  const int pairs = args.offset->pairs();
  for (int first = 0; first < args.slots; first += kChunk) {
    int32_t positions[kChunk] = {};
    const int count = std::min(kChunk, args.slots - first);
    std::copy_n(args.positions + first, count, positions);
    for (int i = 0; i < pairs; ++i) {
      const auto turn = hn::Set(di, static_cast<int32_t>(args.offset->turn[i]));
      Angles at[kChunk / kOffsetLanes];
      for (int v = 0; v < kChunk / kOffsetLanes; ++v) {
        at[v] = angles_of(hn::Mul(turn, hn::LoadU(di, positions + v * kOffsetLanes)));
      }
      for (int h = 0; h < args.heads; ++h) {
        const Projection q = project(*args.offset, i, args.queries + size_t(h) * args.width);
        for (int v = 0; v < kChunk / kOffsetLanes; ++v) {
          float* const logits = args.logits + h * args.logit_stride + first + v * kOffsetLanes;
          const F32V one = hn::MulAdd(at[v].cos, hn::Set(d, q.along), hn::LoadU(d, logits));
          hn::StoreU(hn::MulAdd(at[v].sin, hn::Set(d, q.across), one), d, logits);
        }
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
