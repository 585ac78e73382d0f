// Runs a check on every SIMD target of the machine, and proves that the forced one ran.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/simd_target.h"
#include "vase/simd.h"

namespace vase::kernels {

template <class Check>
void on_every_target(Check check) {
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE("SIMD target " + target);
    force_simd_target(target);
    check();
    EXPECT_EQ(last_simd_target(), target);
  }
  force_simd_target("");
}

}  // namespace vase::kernels
