// Philox4x32-10 (Salmon et al., SC 2011) for many counters at once, and numbers made of its blocks. Which SIMD target
// runs changes no bit of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vase {

// What all blocks of a span share: the key and three of the four words of the counter.
struct PhiloxStream {
  uint32_t key[2];
  uint32_t counter[3];
};

// out[i] from the block whose first counter word is positions[i].
//   uniform      multiples of 2^-24 in [0, 1), from the first word
//   exponential  -ln(1 - u), u in (0, 1) with 53 bits, from the first two words; correct to a unit in the last place
void philox_uniform_span(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out);
void philox_exponential_span(const PhiloxStream& stream, const int32_t* positions, size_t count, float* out);

// Normal numbers by Box-Muller: out[2 i] and out[2 i + 1] from the block whose first counter word is i.
void philox_gaussian_span(const PhiloxStream& stream, size_t count, float* out);

}  // namespace vase
