// The constant part of a head's keys: in models with a key bias, k = R_position(W x + b), and channels of b may be many times
// larger than what varies in them. Quantised keys are stored without it, and attention adds q . R_position(b) to their
// logits, which depends on positions alone (docs/policies.md 4.17).
//
// A key's pair of channels i turns by `turn[i]` per position, in units of 2^-32 of a whole turn, so that large positions lose
// nothing; the same rounded angle is taken off and put back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/path.h"
#include "vase/head_view.h"

namespace vase::kernels {

struct KeyOffset {
  std::vector<uint32_t> turn;
  std::vector<float> x, y;               // the pair at position 0
  std::vector<int> x_channel, y_channel;  // y_channel -1: the channel x_channel alone, which does not turn

  int pairs() const { return static_cast<int>(turn.size()); }
};

// The at most `most` largest pairs of a head's bias. bias: [head_dim]. Pairs of zeros are left out.
KeyOffset key_offset(std::span<const float> bias, const Rope& rope, int most);

// row += factor * R_position(offset). row: [head_dim].
void add_key_offset(const KeyOffset& offset, int32_t position, float factor, float* row);

// logits[h * logit_stride + s] += queries[h] . R_positions[s](offset) for s in [0, slots). queries: [heads][width]. There is
// room for logits up to the next multiple of kStripSlots; those behind the last slot mean nothing.
struct OffsetLogits {
  const KeyOffset* offset = nullptr;
  const int32_t* positions = nullptr;  // [slots]
  int slots = 0;
  const float* queries = nullptr;
  int width = 0, heads = 0;
  float* logits = nullptr;
  ptrdiff_t logit_stride = 0;  // floats
};
void add_offset_logits(Path path, const OffsetLogits& args);

}  // namespace vase::kernels
