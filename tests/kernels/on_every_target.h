// Runs a check on every SIMD target of the machine, and proves that the forced one ran.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/byte_dot.h"
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

// Every target, with and without dot products of bytes that it may have beside its own instructions.
template <class Check>
void on_every_variant(Check check) {
  on_every_target(check);
  byte_dot_allowed = false;
  on_every_target(check);
  byte_dot_allowed = true;
}

}  // namespace vase::kernels
