// Rows of keys or values in few bits, in strips of 16 slots (layout.h), and their products with queries and probabilities.
//
// Products are those of whole numbers: queries, and probabilities times scales, become whole numbers of 23 bits (in three signed
// bytes) relative to the largest of a block, and each is off by less than 4e-7 of that largest. So the error of a result is below
// 4e-7 of the sum of the magnitudes of its terms, were all numbers of a block as large as its largest. Sums of whole numbers are
// exact, so results do not depend on which slots lie side by side, nor on the instructions that multiply bytes.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/path.h"
#include "kernels/strips/layout.h"

namespace vase::kernels {

// The strips of one KV head, one behind another.
struct Strips {
  std::byte* base = nullptr;
  StripKind kind = StripKind::kKeys;
  CodeBits bits = CodeBits::k8;
  int width = 0;  // head_dim: a multiple of kStripBlock, at most kWidestStrip

  std::byte* strip(int index) const { return base + size_t(index) * strip_bytes(bits, width); }
};

inline constexpr int kWidestStrip = 1024;  // channels

// Encodes a row of width floats. 8 bits are those of ggml's quantize_row_q8_0_ref; the scale of 4 bits is that of the least squared
// error among several. A block with a number that is not finite becomes NaN as a whole, so that the fault stays visible.
void store_in_strips(const Strips& strips, int slot, const float* row);
// Decodes a row into out[0 .. width).
void read_from_strips(const Strips& strips, int slot, float* out);
// Decodes the first `slots` rows, as read_from_strips() does each of them: row s to out + s * stride, in floats.
void decode_strips(Path path, const Strips& strips, int slots, float* out, size_t stride);
// Makes a row NaN.
void poison_in_strips(const Strips& strips, int slot);
// Copies codes and scales as they are.
void move_in_strips(const Strips& strips, int from, int to);

// Strips that will be read next: while strip i of a product is worked on, the i-th from slot `first` on is fetched.
// As wide as the strips of the product.
struct NextStrips {
  Strips strips;  // no base: none
  int first = 0;
};

// logits[head * logit_stride + s] = query of the head . key of slot first + s, for s in [0, slots). first: a multiple of
// kStripSlots. queries: [heads][width]. Slots behind the last may be written up to the end of its strip.
struct StripDots {
  Strips keys;
  int first = 0, slots = 0;
  const float* queries = nullptr;
  int heads = 0;
  float* logits = nullptr;
  ptrdiff_t logit_stride = 0;  // floats
  NextStrips next;
};
void strip_dots(Path path, const StripDots& args);

// out[head][channel] += sum over s of weights[head * weight_stride + s] * value of slot first + s. At most kStripSum slots.
inline constexpr int kStripSum = 256;
struct StripSums {
  Strips values;
  int first = 0, slots = 0;
  const float* weights = nullptr;
  ptrdiff_t weight_stride = 0;  // floats
  int heads = 0;
  float* out = nullptr;  // [heads][width]
  NextStrips next;
};
void strip_sums(Path path, const StripSums& args);

}  // namespace vase::kernels
