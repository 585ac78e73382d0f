// Tokens per second from a shape, a batch and a few measured numbers of the machine (docs/bench.md has the
// formula).
#pragma once

#include <cstdint>

namespace vase::bench {

// What a decode step moves, whatever the machine.
struct StepBytes {
  uint64_t weights = 0;  // read once per step
  uint64_t slot = 0;     // rows of one slot, keys and values, in all layers and KV heads

  // slots: that a head attends over, per sequence.
  double per_step(int batch, double slots) const {
    return static_cast<double>(weights) + batch * slots * static_cast<double>(slot);
  }
};

// Measured on the model's own decode step with nearly empty caches.
struct Calibration {
  double one_s = 0;  // of a step of one sequence
  int batch = 1;
  double batch_s = 0;        // of a step of `batch` sequences
  double read_gb_per_s = 0;  // 10^9 bytes
};

// step = fixed + batch x column + batch x slots x bytes per slot / read bandwidth
class CostModel {
 public:
  CostModel(const StepBytes& bytes, const Calibration& measured);

  double step_s(int batch, double slots) const;
  double tokens_per_s(int batch, double slots) const { return batch / step_s(batch, slots); }
  double fixed_s() const { return fixed_s_; }  // reading the weights, and what every step costs
  double column_s() const {
    return column_s_;
  }  // computing with them, per sequence; 0 when calibrated with one alone

 private:
  StepBytes bytes_;
  double fixed_s_, column_s_, read_bytes_per_s_;
};

// Slots that a head attends over on average while `tokens` follow after `depth`. budget, period: of a policy
// that evicts; budget 0: everything is attended.
double mean_slots(int depth, int tokens, int budget, int period);

}  // namespace vase::bench
