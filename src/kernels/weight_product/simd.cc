// weight_product.h on Highway: a tile of columns shares every load of weights.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/weight_product/simd.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/byte_dot.h"
#include "kernels/simd_target.h"
#include "kernels/weight_product/fused.h"
#include "kernels/weight_product/layout.h"

#if HWY_TARGET == HWY_SCALAR  // no vectors of four bytes
namespace vase::kernels::fused::N_SCALAR {

void WeightProduct(const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns, int first,
                   int last, const float* bias, float* out) {
  note_simd_target(HWY_TARGET);
  kernels::weight_product(Path::kReference, shape, packed, activations, columns, first, last, bias, out);
}

void RoundActivations(const float* x, int columns, int inputs, int first, int last, std::byte* out) {
  note_simd_target(HWY_TARGET);
  kernels::round_activations(Path::kReference, x, columns, inputs, first, last, out);
}

}  // namespace vase::kernels::fused::N_SCALAR
#else

#undef VASE_PRODUCTS
#define VASE_PRODUCTS "kernels/weight_product/products-inl.h"
#include "kernels/byte_dot_variants-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
using plain::F32;
using plain::I32;
using plain::I32V;
using plain::kLanes;

void WeightProduct(const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns, int first,
                   int last, const float* bias, float* out) {
  note_simd_target(HWY_TARGET);
  const auto product = has_byte_dot() ? byte_dot::product : plain::product;
  product(shape, packed, activations, columns, first, last, bias, out);
}

// Largest magnitude of a block; not finite when a number is not. Compared as integers, which order NaN above infinity.
HWY_INLINE float largest_magnitude(const float* x) {
  const I32 di;
  const F32 d;
  I32V largest = hn::Zero(di);
  for (int i = 0; i < kWeightBlock; i += kLanes) {
    largest = hn::Max(largest, hn::BitCast(di, hn::Abs(hn::LoadU(d, x + i))));
  }
  const int32_t bits = hn::GetLane(hn::MaxOfLanes(di, largest));
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// Rounds a block to codes; returns the sums of its halves.
HWY_INLINE void codes_of_block(const float* x, float inverse, int8_t* out, int (&half_sum)[2]) {
  const F32 d;
  const I32 di;
  const hn::Rebind<int8_t, I32> bytes;
  I32V sum[2] = {hn::Zero(di), hn::Zero(di)};
  for (int i = 0; i < kWeightBlock; i += kLanes) {
    const I32V code = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, inverse)));
    sum[i / 16] = hn::Add(sum[i / 16], code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, out + i);
  }
  for (int h : {0, 1}) half_sum[h] = hn::GetLane(hn::SumOfLanes(di, sum[h]));
}

HWY_INLINE void put(std::byte* at, int column, const void* value) { std::memcpy(at + 4 * column, value, 4); }

HWY_INLINE void round_column(const float* x, const TileBlock<std::byte>& block, int column) {
  const float largest = largest_magnitude(x);
  const bool finite = largest <= std::numeric_limits<float>::max();
  int8_t code[kWeightBlock] = {};
  int half_sum[2] = {0, 0};
  if (finite) codes_of_block(x, largest > 0 ? 127 / largest : 0.0f, code, half_sum);
  const float scale = finite ? largest / 127 : std::numeric_limits<float>::quiet_NaN();
  const int minus[3] = {-(half_sum[0] + half_sum[1]), -half_sum[0], -half_sum[1]};
  const float scaled = scale * float(half_sum[0] + half_sum[1]);
  for (int j = 0; j < kQuads; ++j) put(block.quad(j), column, code + 4 * j);
  put(block.minus_sum(), column, &minus[0]);
  for (int h : {0, 1}) put(block.minus_half_sum(h), column, &minus[1 + h]);
  put(block.scale(), column, &scale);
  put(block.scaled_sum(), column, &scaled);
}

void RoundActivations(const float* x, int columns, int inputs, int first, int last, std::byte* out) {
  note_simd_target(HWY_TARGET);
  const int blocks = inputs / kWeightBlock;
  for (int start = 0; start < columns; start += kTileColumns) {
    for (int b = first; b < last; ++b) {
      const TileBlock<std::byte> block = tile_block(out, blocks, columns, start, b);
      for (int c = 0; c < block.columns; ++c) {
        round_column(x + size_t(start + c) * inputs + size_t(b) * kWeightBlock, block, c);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace vase::kernels::fused {

HWY_EXPORT(RoundActivations);
HWY_EXPORT(WeightProduct);

void round_activations(const float* x, int columns, int inputs, int first, int last, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(RoundActivations)(x, columns, inputs, first, last, out);
}

void weight_product(const PackedShape& shape, const std::byte* packed, const std::byte* activations, int columns, int first,
                    int last, const float* bias, float* out) {
  HWY_DYNAMIC_DISPATCH(WeightProduct)(shape, packed, activations, columns, first, last, bias, out);
}

}  // namespace vase::kernels::fused
#endif
