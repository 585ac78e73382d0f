#include "kernels/simd_target.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels/attention_problem.h"
#include "kernels/on_every_target.h"
#include "vase/error.h"
#include "vase/simd.h"

namespace vase::kernels {
namespace {

void run_any_kernel() { AttentionProblem(ProblemShape{.slots_before = 10}).run(Path::kFused); }

// The call must be refused with a message that tells the name, the source, and every allowed name.
template <class Call>
void expect_refused(Call call, const std::string& start) {
  try {
    call();
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    const std::string message = error.what();
    EXPECT_EQ(message.substr(0, start.size()), start);
    for (const std::string& target : simd_targets()) EXPECT_NE(message.find(target), std::string::npos);
  }
}

TEST(SimdTarget, BestTargetRunsByDefault) {
  ASSERT_FALSE(simd_targets().empty());
  force_simd_target("");
  EXPECT_EQ(simd_target(), simd_targets().front());
  run_any_kernel();
  EXPECT_EQ(last_simd_target(), simd_target());
}

TEST(SimdTarget, ForcedTargetRuns) {
  on_every_target([] {
    run_any_kernel();
    EXPECT_EQ(last_simd_target(), simd_target());
  });
}

TEST(SimdTarget, UnknownNameIsRefusedAndNamesTheAllowedOnes) {
  EXPECT_FALSE(is_simd_target("AVX9"));
  const std::string before = simd_target();
  expect_refused([] { force_simd_target("AVX9"); }, "unknown SIMD target 'AVX9'");
  EXPECT_EQ(simd_target(), before);
}

// CTest runs this one by itself under several values of VASE_SIMD.
TEST(SimdTargetEnvironment, NamesTheTargetThatRuns) {
  const char* value = std::getenv("VASE_SIMD");
  if (value == nullptr) GTEST_SKIP() << "VASE_SIMD is not set";
  const std::string name = value;
  const bool known = is_simd_target(name);
  EXPECT_EQ(simd_target(), known ? name : simd_targets().front());
  run_any_kernel();
  EXPECT_EQ(last_simd_target(), simd_target());
  if (known || name.empty()) {
    EXPECT_NO_THROW(check_simd_request());
  } else {
    expect_refused(check_simd_request, "VASE_SIMD: unknown SIMD target '" + name + "'");
  }
}

}  // namespace
}  // namespace vase::kernels
