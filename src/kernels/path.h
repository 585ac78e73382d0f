// Which implementation of a kernel runs.
#pragma once

#include <cstdint>

namespace vase::kernels {

enum class Path : uint8_t { kReference, kFused };

}  // namespace vase::kernels
