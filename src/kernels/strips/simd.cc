// The products of strips.h on Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/strips/simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#if HWY_ARCH_ARM_A64 && HWY_OS_LINUX
#include <sys/auxv.h>
#endif

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

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace plain {
#define VASE_BYTE_DOT 0
#include "kernels/strips/products-inl.h"
#undef VASE_BYTE_DOT
}  // namespace plain
}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#include "kernels/byte_dot_target.h"

#ifdef VASE_BYTE_DOT_TARGET
HWY_PUSH_ATTRIBUTES(VASE_BYTE_DOT_TARGET)
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace byte_dot {
#define VASE_BYTE_DOT 1
#include "kernels/strips/products-inl.h"
#undef VASE_BYTE_DOT
}  // namespace byte_dot
}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_POP_ATTRIBUTES
#endif

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

#ifdef VASE_BYTE_DOT_TARGET
bool has_byte_dot() {
  static const bool has = VASE_HAS_BYTE_DOT;
  return has && byte_dot_allowed;
}
#endif

void StripDotsOf(const StripDots& args) {
  note_simd_target(HWY_TARGET);
#ifdef VASE_BYTE_DOT_TARGET
  if (has_byte_dot()) return byte_dot::dots_of(args);
#endif
  plain::dots_of(args);
}

void StripSumsOf(const StripSums& args) {
  note_simd_target(HWY_TARGET);
#ifdef VASE_BYTE_DOT_TARGET
  if (has_byte_dot()) return byte_dot::sums_of(args);
#endif
  plain::sums_of(args);
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
