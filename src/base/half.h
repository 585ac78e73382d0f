// Half precision (IEEE) and bfloat16 <-> f32, round to nearest even; scalar, no CPU feature needed.
#pragma once

#include <cstdint>

namespace vase {

uint16_t to_half(float x);
float from_half(uint16_t h);

uint16_t to_bfloat(float x);
float from_bfloat(uint16_t h);

}  // namespace vase
