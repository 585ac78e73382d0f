// Quantises values to a few bits and measures the error of each token: is a value of a large range, which the policies
// with value slots protect, also one that is hard to store in few bits?
//
// One token's row is cut into groups of consecutive channels. A group of smallest value l and range s = max - min has
//   scale a = (2^bits - 1) / s, at most 2e4; 1 when s <= 1e-4
//   zero  z = -l a, a real number
//   code  Q = x a + z rounded to even, cut to 0 .. 2^bits - 1;  decoded (Q - z) / a
// so that a group needs not straddle 0. The zeros can be refined as HQQ does (half-quadratic quantisation,
// github.com/mobiusml/hqq, release 0.2.8): with e = shrink(x - decoded),
// shrink(y) = sign(y) max(0, |y| - |y|^(p-1) / beta), p = 0.7 and beta = 10, each iteration sets z to the mean over the
// group of Q - (x - e) a. It ends when the mean of |x - decoded| over all values falls no more; the zeros in use are
// those computed after that last measurement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vase::eval {

struct ValueQuantizer {
  int bits = 2;        // 1 to 8
  int group = 32;      // channels that share a scale and a zero; divides the width of a row
  int iterations = 0;  // most refinements of the zeros; HQQ takes 20
};

struct QuantizedValues {
  int width = 0, group = 0;        // channels of a row, and of a group
  std::vector<uint8_t> codes;      // [tokens][width]
  std::vector<float> scale, zero;  // [tokens][width / group]
  std::vector<float> mean_errors;  // [iterations done] mean |x - decoded| over all values, before each refinement

  // The value that stands for codes[i].
  float decoded(size_t i) const {
    const size_t g = i / static_cast<size_t>(group);
    return (static_cast<float>(codes[i]) - zero[g]) / scale[g];
  }
};

// values: [tokens][width] in f32. Throws Error(kUsage) when bits, group or iterations are out of range or the sizes do
// not divide, Error(kNonFinite) when a value, or the range of a group, is not finite.
QuantizedValues quantize_values(std::span<const float> values, int width, const ValueQuantizer& quantizer);

// One number per token.
struct TokenErrors {
  std::vector<double> squared_error;  // mean over the row of (x - decoded)^2
  std::vector<double> range;          // max - min over the whole row
};

// values: those that `quantized` was made from. How the two go together: pearson() and spearman() of eval/statistics.h.
// As the unrefined squared error grows with the square of a group's range, some correlation is built in.
TokenErrors token_errors(std::span<const float> values, const QuantizedValues& quantized);

}  // namespace vase::eval
