#include "kernels/key_offset/key_offset.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/key_offset/fused.h"

namespace vase::kernels {
namespace {

struct Pair {
  uint32_t turn;
  float x, y;
  int x_channel, y_channel;

  double size() const { return double(x) * x + double(y) * y; }
};

// Radians per position in 2^-32 of a turn, modulo a whole turn.
uint32_t turn_of(double frequency) {
  const double turns = frequency / (2 * std::numbers::pi);
  return static_cast<uint32_t>(static_cast<int64_t>(std::llround((turns - std::floor(turns)) * 0x1p32)));
}

std::vector<Pair> all_pairs(std::span<const float> bias, const Rope& rope) {
  std::vector<Pair> pairs;
  const int count = static_cast<int>(rope.frequencies.size());
  for (int f = 0; f < count; ++f) {
    const int x = rope.adjacent ? 2 * f : f, y = rope.adjacent ? 2 * f + 1 : f + count;
    pairs.push_back({turn_of(rope.frequencies[f]), bias[x] * rope.magnitude, bias[y] * rope.magnitude, x, y});
  }
  for (int c = 2 * count; c < static_cast<int>(bias.size()); ++c) pairs.push_back({0, bias[c], 0, c, -1});
  return pairs;
}

// The pair at a position.
struct Turned {
  double x, y;
};
Turned turned(const KeyOffset& offset, int i, int32_t position) {
  const auto angle = static_cast<int32_t>(offset.turn[i] * static_cast<uint32_t>(position));
  const double radians = angle * (std::numbers::pi * 0x1p-31);
  const double c = std::cos(radians), s = std::sin(radians);
  return {offset.x[i] * c - offset.y[i] * s, offset.x[i] * s + offset.y[i] * c};
}

void reference_logits(const OffsetLogits& args) {
  for (int s = 0; s < args.slots; ++s) {
    for (int h = 0; h < args.heads; ++h) {
      const float* const query = args.queries + size_t(h) * args.width;
      double sum = 0;
      for (int i = 0; i < args.offset->pairs(); ++i) {
        const Turned at = turned(*args.offset, i, args.positions[s]);
        const int y = args.offset->y_channel[i];
        sum += at.x * query[args.offset->x_channel[i]] + (y < 0 ? 0 : at.y * query[y]);
      }
      args.logits[h * args.logit_stride + s] += static_cast<float>(sum);
    }
  }
}

}  // namespace

KeyOffset key_offset(std::span<const float> bias, const Rope& rope, int most) {
  std::vector<Pair> pairs = all_pairs(bias, rope);
  std::ranges::stable_sort(pairs, std::ranges::greater(), &Pair::size);
  KeyOffset offset;
  for (const Pair& pair : pairs) {
    if (offset.pairs() == most || !(pair.size() > 0)) break;
    offset.turn.push_back(pair.turn);
    offset.x.push_back(pair.x);
    offset.y.push_back(pair.y);
    offset.x_channel.push_back(pair.x_channel);
    offset.y_channel.push_back(pair.y_channel);
  }
  return offset;
}

void add_key_offset(const KeyOffset& offset, int32_t position, float factor, float* row) {
  for (int i = 0; i < offset.pairs(); ++i) {
    const Turned at = turned(offset, i, position);
    row[offset.x_channel[i]] += factor * static_cast<float>(at.x);
    if (offset.y_channel[i] >= 0) row[offset.y_channel[i]] += factor * static_cast<float>(at.y);
  }
}

void add_offset_logits(Path path, const OffsetLogits& args) {
  path == Path::kReference ? reference_logits(args) : fused::add_offset_logits(args);
}

}  // namespace vase::kernels
