// IEEE half precision <-> f32, round to nearest even; scalar, no CPU feature needed.
#pragma once

#include <cstdint>

namespace vase {

uint16_t to_half(float x);
float from_half(uint16_t h);

}  // namespace vase
