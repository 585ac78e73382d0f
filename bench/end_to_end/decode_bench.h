// `vase bench`: tokens per second at a depth, policies side by side with libllama, interleaved.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vase/memory.h"
#include "vase/options.h"

namespace vase::bench {

struct DecodeBenchOptions {
  std::string model_path;
  std::vector<std::string> policies = {"vase-attnv"};
  CacheOptions cache;
  EngineOptions engine;  // engine.sequences = batch
  int depth = 0;         // tokens seen before the first timed step
  int tokens = 64;  // timed steps per repeat; a multiple of the buffer times every eviction equally often
  int repeats = 5;
  bool peer_llama = false;
  std::function<bool()> stop;  // asked before every step; true ends the run. May be empty
};

struct DecodeBenchRow {
  std::string policy;                // canonical text
  std::vector<double> tokens_per_s;  // one per repeat, whole batch
  std::vector<double> peer_flash,
      peer_plain;                     // libllama with and without flash attention; empty without the peer
  std::vector<double> ratios;         // ours over the faster mode of the same repeat
  std::vector<double> read_gb_per_s;  // sequential read of 512 MiB by all threads, same repeat
  MemoryPlan memory;
  int threads = 0;  // that ran
};

// The rows hold what was timed until `stop`. progress: called with done and total before the first timed piece and
// after every one. Throws Error(kUsage) when the peer is asked
// for and keys and values differ in type.
std::vector<DecodeBenchRow> run_decode_bench(const DecodeBenchOptions& options,
                                             const std::function<void(int done, int total)>& progress);

double median(std::vector<double> values);

}  // namespace vase::bench
