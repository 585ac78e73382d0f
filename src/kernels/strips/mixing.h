// Blocks of 4 bits hold their channels mixed: codes are those of H x, where H is the Walsh-Hadamard matrix of 32 over
// sqrt(32). It turns a block in which few channels are large, as those of keys are, into one whose numbers are all of a
// size, so the one scale of the block fits them all. H is orthogonal and its own inverse, so a product with a row is one
// with the mixed query, and a weighted sum of rows is mixed back once, whatever the number of slots (QuaRot,
// arXiv 2404.00456, does the same to whole heads).
#pragma once

#include "kernels/strips/layout.h"

namespace vase::kernels {

inline constexpr float kMixingScale = 0.17677669529663687f;  // 1 / sqrt(kStripBlock)

constexpr bool is_mixed(CodeBits bits) { return bits == CodeBits::k4; }

// x[0 .. kStripBlock) = H x.
void mix_block(float* x);

}  // namespace vase::kernels
