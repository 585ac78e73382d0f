// What was measured of one case.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "end_to_end/case.h"
#include "end_to_end/cost_model.h"
#include "vase/memory.h"

namespace vase::bench {

struct Prediction {
  double slots = 0;  // that a head is taken to attend over
  // One per repeat:
  std::vector<Calibration> calibrations;
  std::vector<double> tokens_per_s;
};

struct Row {
  Case what;        // its batch is 0 when --sweep-batch found none that fits; then nothing was timed
  int repeats = 0;  // asked for; fewer are there when the run was interrupted
  int threads = 0;  // that ran
  bool staggered = false;  // layers evict at different steps
  MemoryPlan memory;
  uint64_t weight_bytes = 0, compute_bytes = 0;  // resident beside the cache
  uint64_t memory_limit = 0;                     // bytes that the batch had to fit, 0 = none
  StepBytes step_bytes;

  // One per repeat, tokens of the whole batch:
  std::vector<double> tokens_per_s;
  std::vector<double> peer_flash, peer_plain;  // libllama with and without flash attention; may be empty
  std::vector<double> ratios;                  // ours over the faster mode of the same repeat
  std::vector<double> read_gb_per_s;     // sequential read by all threads, just before ours (10^9 bytes)
  std::vector<double> limit_fractions;   // generation: bytes moved per second over that
  std::vector<double> joules_per_token;  // empty where the machine does not tell
  std::vector<double> first_token_s;     // prompts: until the first token can be drawn, mean of the sequences

  // Generation, of all repeats in order:
  std::vector<double> step_s;        // from token to token
  std::vector<uint8_t> step_evicts;  // whether heads evicted in it
  double slots = 0;                  // that a head attended over, mean of the steps

  double timed_s = 0;                      // all repeats
  double scoring_s = 0, compaction_s = 0;  // of evictions in it, mean over the threads that evict
  int64_t evictions = 0;                   // of one head, all repeats
  int64_t seen = 0;                        // tokens of one sequence at the end of a piece
  uint64_t peak_memory = 0;                // bytes resident, this process, the peer included
  std::optional<Prediction> prediction;    // of generation

  bool incomplete() const { return what.batch > 0 && static_cast<int>(tokens_per_s.size()) < repeats; }
  // Of the tokens seen at the end, the share that the budget keeps; 1 when they all fit.
  double kept_fraction() const;
};

// The longest step of each repeat over the median of the repeat; the median of these.
double worst_over_median(const Row& row);
// Median of the steps in which heads evict over the median of the others; empty when either are missing.
std::optional<double> evicting_over_other(const Row& row);

}  // namespace vase::bench
