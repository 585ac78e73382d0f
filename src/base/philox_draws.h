// The engine's random draws: Philox4x32-10 (Random123), counter-based, so a draw depends on its key and its
// position alone: not on threads, batch make-up, slot order or call order.
#pragma once

#include <cstdint>

#include "vase/policy.h"

namespace vase {

// Key of one head's draws at one eviction. `sequence` is the caller's stream number, not a batch slot.
struct DrawKey {
  uint64_t seed = 0;
  uint32_t sequence = 0;
  uint32_t layer = 0;     // < 65536
  uint32_t head = 0;      // < 4096
  uint32_t eviction = 0;  // number of evictions before this one
};

class PhiloxDraws final : public RandomDraws {
 public:
  explicit PhiloxDraws(const DrawKey& key) : key_(key) {}
  void uniform(std::span<const int32_t> positions, std::span<float> out) override;
  void exponential(std::span<const int32_t> positions, std::span<float> out) override;
  void gaussian(bool resample, std::span<float> out) override;

 private:
  DrawKey key_;
};

// One uniform double in [0,1) for text sampling: the counter is the position of the token to be sampled.
double philox_uniform(uint64_t seed, uint64_t counter);

}  // namespace vase
