#include "base/philox_draws.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace vase {
namespace {

enum class Purpose : uint32_t { kUniform = 1, kExponential = 2, kGaussian = 3, kText = 4 };

struct Words {
  uint32_t w[4];
};

// Key: seed. Counter: (counter, eviction, layer | head | purpose, sequence). The third word packs 16 + 12 + 4 bits, so
// no two draws of a seed ever share a block.
Words philox(const DrawKey& key, Purpose purpose, uint32_t counter) {
  r123::Philox4x32::ctr_type ctr = {
      {counter, key.eviction, (key.layer << 16) | (key.head << 4) | static_cast<uint32_t>(purpose), key.sequence}};
  r123::Philox4x32::key_type k = {{static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)}};
  const auto r = r123::Philox4x32()(ctr, k);
  return {{r[0], r[1], r[2], r[3]}};
}

// 53 bits, in [0, 1).
double unit(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}

// 52 bits at the centres of their cells, so neither 0 nor 1: both u and 1 - u have a finite logarithm.
double open_unit(uint32_t high, uint32_t low) {
  return (static_cast<double>((uint64_t(high) << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

void PhiloxDraws::uniform(std::span<const int32_t> positions, std::span<float> out) {
  for (size_t i = 0; i < positions.size(); ++i) {
    const Words r = philox(key_, Purpose::kUniform, static_cast<uint32_t>(positions[i]));
    out[i] = static_cast<float>(r.w[0] >> 8) * 0x1p-24f;
  }
}

void PhiloxDraws::exponential(std::span<const int32_t> positions, std::span<float> out) {
  for (size_t i = 0; i < positions.size(); ++i) {
    const Words r = philox(key_, Purpose::kExponential, static_cast<uint32_t>(positions[i]));
    out[i] = static_cast<float>(-std::log1p(-open_unit(r.w[0], r.w[1])));
  }
}

// Box-Muller, two normals from each block of random bits. The head is left out of the key: all heads of a layer
// share the matrix (docs/policies.md 3.9).
void PhiloxDraws::gaussian(bool resample, std::span<float> out) {
  DrawKey key = key_;
  key.head = 0;
  if (!resample) key.eviction = 0;
  for (size_t i = 0; i < out.size(); i += 2) {
    const Words r = philox(key, Purpose::kGaussian, static_cast<uint32_t>(i / 2));
    const double radius = std::sqrt(-2 * std::log(open_unit(r.w[0], r.w[1])));
    const double angle = 2 * std::numbers::pi * unit(r.w[2], r.w[3]);
    out[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < out.size()) out[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

double philox_uniform(uint64_t seed, uint64_t counter) {
  DrawKey key{.seed = seed, .sequence = static_cast<uint32_t>(counter >> 32)};
  const Words r = philox(key, Purpose::kText, static_cast<uint32_t>(counter));
  return unit(r.w[0], r.w[1]);
}

}  // namespace vase
