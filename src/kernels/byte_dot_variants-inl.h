// A kernel's products of bytes in two variants: `plain`, and `byte_dot` where the SIMD target that is being compiled has
// instructions for them beside its own. VASE_PRODUCTS names what is compiled for both, a file that includes byte_dot-inl.h. To
// be included anew for every target but HWY_SCALAR, outside of any namespace, behind all that the products need.
#include "kernels/byte_dot_target.h"

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace plain {
#define VASE_BYTE_DOT 0
#include VASE_PRODUCTS
#undef VASE_BYTE_DOT
}  // namespace plain
}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();

#ifdef VASE_BYTE_DOT_TARGET
HWY_PUSH_ATTRIBUTES(VASE_BYTE_DOT_TARGET)
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {
namespace byte_dot {
#define VASE_BYTE_DOT 1
#include VASE_PRODUCTS
#undef VASE_BYTE_DOT
}  // namespace byte_dot
}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_POP_ATTRIBUTES
#endif

HWY_BEFORE_NAMESPACE();
namespace vase::kernels::fused {
namespace HWY_NAMESPACE {

// Whether `byte_dot` is to run. Where the target has none it stands for `plain`, so that callers are the same for all.
#ifdef VASE_BYTE_DOT_TARGET
inline bool has_byte_dot() {
  static const bool has = VASE_HAS_BYTE_DOT;
  return has && byte_dot_allowed;
}
#else
namespace byte_dot = plain;
inline bool has_byte_dot() { return false; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace vase::kernels::fused
HWY_AFTER_NAMESPACE();
