#include "kernels/simd_target.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/attention_problem.h"
#include "kernels/on_every_target.h"
#include "vase/error.h"

namespace vase::kernels {
namespace {

void run_any_kernel() { AttentionProblem(ProblemShape{.slots_before = 10}).run(Path::kFused); }

TEST(SimdTarget, BestTargetRunsByDefault) {
  ASSERT_FALSE(simd_targets().empty());
  force_simd_target("");
  run_any_kernel();
  EXPECT_EQ(last_simd_target(), simd_targets().front());
}

TEST(SimdTarget, ForcedTargetRuns) { on_every_target(run_any_kernel); }

TEST(SimdTarget, UnknownNameIsRefusedAndNamesTheAllowedOnes) {
  EXPECT_FALSE(is_simd_target("AVX9"));
  try {
    force_simd_target("AVX9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(error.what()).find(simd_targets().front()), std::string::npos);
  }
}

// CTest runs this one by itself under several values of VASE_SIMD.
TEST(SimdTargetEnvironment, NamesTheTargetThatRuns) {
  const char* name = std::getenv("VASE_SIMD");
  if (name == nullptr) GTEST_SKIP() << "VASE_SIMD is not set";
  run_any_kernel();
  EXPECT_EQ(last_simd_target(), is_simd_target(name) ? std::string_view(name) : simd_targets().front());
}

}  // namespace
}  // namespace vase::kernels
