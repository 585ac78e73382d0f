// Runs a check on every SIMD target of the machine, and proves that the forced one ran.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/simd_target.h"

namespace vase::kernels {

template <class Check>
void on_every_target(Check check) {
  for (std::string_view target : simd_targets()) {
    SCOPED_TRACE("SIMD target " + std::string(target));
    force_simd_target(target);
    check();
    EXPECT_EQ(last_simd_target(), target);
  }
  force_simd_target("");
}

}  // namespace vase::kernels
