// What the engine asks of the attention over its cache, beside attending.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/sequence.h"
#include "model/forward.h"
#include "vase/engine.h"

namespace vase {

// Where evictions have spent their time so far, in seconds: the mean over the threads that evict.
struct EvictionTimes {
  double scoring = 0;     // showing the policy its candidates, and what it takes to choose
  double compaction = 0;  // moving rows
};

class StepAttention : public model::LayerAttention {
 public:
  // An eviction with the sequence that it belongs to.
  struct Logged {
    const Sequence* sequence;
    EvictionRecord record;
  };

  // The sequence's rows were stored in the cache directly, not through attend().
  virtual void adopt_rows(const Sequence&) {}
  // The spans of the next step; they and their sequences must stay as they are until end_step().
  virtual void begin_step(std::span<const Span> spans) = 0;
  // After the last layer.
  virtual void end_step() {}
  // Evictions since the last call, in (sequence, tokens seen, layer, head) order.
  virtual std::vector<Logged> take_log() { return {}; }
  // Rethrows the first exception that a part of the policy has thrown since the last call. The cache is sound.
  virtual void rethrow_error() = 0;
  virtual uint64_t nonfinite_scores() const = 0;
  virtual uint64_t protection_truncated() const { return 0; }
  virtual uint64_t weightless_draws() const { return 0; }
  virtual EvictionTimes eviction_times() const { return {}; }
  virtual size_t scratch_bytes() const = 0;
};

}  // namespace vase
