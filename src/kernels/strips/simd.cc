// The products of strips.h on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/strips/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "kernels/byte_dot.h"
#include "kernels/rows-inl.h"
#include "kernels/simd_target.h"
#include "kernels/strips/fused.h"
#include "kernels/strips/mixing.h"

#if HWY_TARGET == HWY_SCALAR  // no vectors of four bytes
namespace vase::kernels::fused::N_SCALAR {

void StripDotsOf(const StripDots& args) {
  note_simd_target(HWY_TARGET);
  kernels::strip_dots(Path::kReference, args);
}

void StripSumsOf(const StripSums& args) {
  note_simd_target(HWY_TARGET);
  kernels::strip_sums(Path::kReference, args);
}

}  // namespace vase::kernels::fused::N_SCALAR
#else

#undef VASE_PRODUCTS
#define VASE_PRODUCTS "kernels/strips/products-inl.h"
#include "kernels/byte_dot_variants-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

void StripDotsOf(const StripDots& args) {
  note_simd_target(HWY_TARGET);
  has_byte_dot() ? byte_dot::dots_of(args) : plain::dots_of(args);
}

void StripSumsOf(const StripSums& args) {
  note_simd_target(HWY_TARGET);
  has_byte_dot() ? byte_dot::sums_of(args) : plain::sums_of(args);
}

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace vase::kernels::fused {

HWY_EXPORT(StripDotsOf);
HWY_EXPORT(StripSumsOf);

void strip_dots(const StripDots& args) { HWY_DYNAMIC_DISPATCH(StripDotsOf)(args); }
void strip_sums(const StripSums& args) { HWY_DYNAMIC_DISPATCH(StripSumsOf)(args); }

}  // namespace vase::kernels::fused
#endif
