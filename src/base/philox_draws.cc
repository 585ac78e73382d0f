#include "base/philox_draws.h"

#include <Random123/philox.h>

#include "base/philox_spans.h"

namespace vase {
namespace {

enum class Purpose : uint32_t { kUniform = 1, kExponential = 2, kGaussian = 3, kText = 4 };

// Key: seed. Counter: (counter, eviction, layer | head | purpose, sequence). The third word packs 16 + 12 + 4 bits, so
// no two draws of a seed ever share a block.
PhiloxStream stream_of(const DrawKey& key, Purpose purpose) {
  const uint32_t place = (key.layer << 16) | (key.head << 4) | static_cast<uint32_t>(purpose);
  return {.key = {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)},
          .counter = {key.eviction, place, key.sequence}};
}

}  // namespace

void PhiloxDraws::uniform(std::span<const int32_t> positions, std::span<float> out) {
  philox_uniform_span(stream_of(key_, Purpose::kUniform), positions.data(), positions.size(), out.data());
}

void PhiloxDraws::exponential(std::span<const int32_t> positions, std::span<float> out) {
  philox_exponential_span(stream_of(key_, Purpose::kExponential), positions.data(), positions.size(), out.data());
}

// The head is left out of the key: all heads of a layer share the matrix (docs/policies.md 3.9).
void PhiloxDraws::gaussian(bool resample, std::span<float> out) {
  DrawKey key = key_;
  key.head = 0;
  if (!resample) key.eviction = 0;
  philox_gaussian_span(stream_of(key, Purpose::kGaussian), out.size(), out.data());
}

// One number at a time needs no vectors.
double philox_uniform(uint64_t seed, uint64_t counter) {
  const PhiloxStream s = stream_of({.seed = seed, .sequence = static_cast<uint32_t>(counter >> 32)}, Purpose::kText);
  const r123::Philox4x32::ctr_type at = {{static_cast<uint32_t>(counter), s.counter[0], s.counter[1], s.counter[2]}};
  const auto r = r123::Philox4x32()(at, {{s.key[0], s.key[1]}});
  return static_cast<double>((uint64_t(r[0]) << 32 | r[1]) >> 11) * 0x1p-53;  // 53 bits, in [0, 1)
}

}  // namespace vase
