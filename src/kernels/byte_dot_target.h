// Of the SIMD target that is being compiled: VASE_BYTE_DOT_TARGET, what the compiler must be told so that it makes dot products
// of bytes, and VASE_HAS_BYTE_DOT, whether the processor has them. Neither where the target has none. Highway's own x86 target
// with such instructions, AVX3_DL, asks for other extensions as well, and is left out by default. To be included anew for every
// target, outside of any namespace.
#if HWY_ARCH_ARM_A64 && HWY_OS_LINUX
#include <sys/auxv.h>
#endif

#undef VASE_BYTE_DOT_TARGET
#undef VASE_HAS_BYTE_DOT
#if HWY_TARGET == HWY_AVX3
#define VASE_BYTE_DOT_TARGET HWY_TARGET_STR ",avx512vnni"
#define VASE_HAS_BYTE_DOT __builtin_cpu_supports("avx512vnni")
#elif HWY_TARGET == HWY_AVX2
#define VASE_BYTE_DOT_TARGET HWY_TARGET_STR ",avxvnni"
#define VASE_HAS_BYTE_DOT __builtin_cpu_supports("avxvnni")
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64 && HWY_OS_LINUX
#define VASE_HAS_BYTE_DOT ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0)
#if HWY_COMPILER_GCC_ACTUAL && !defined(__ARM_FEATURE_DOTPROD)
#define VASE_BYTE_DOT_TARGET "arch=armv8.2-a+dotprod+crypto"  // GCC's intrinsic asks for the architecture as well
#else
#define VASE_BYTE_DOT_TARGET "+dotprod+crypto"
#endif
#endif
