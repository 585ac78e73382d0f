// `vase bench`: prompt processing and generation at a depth, policies side by side with libllama, in turns.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "end_to_end/case.h"
#include "end_to_end/piece.h"
#include "end_to_end/row.h"
#include "vase/options.h"

namespace vase::bench {

struct BenchOptions {
  std::string model_path;
  Grid grid;
  EngineOptions engine;  // the path of attention; the grid has the rest
  int repeats = 5;
  bool peer_flash = false, peer_plain = false;  // libllama's modes of attention
  int peer_tokens = 0;                          // steps of the peer per repeat; 0 = as many as ours
  bool predict = false;
  uint64_t sweep_bytes =
      0;  // > 0: the batch of every case is the largest whose weights, cache and buffers take so much

  Stop stop = [] { return false; };                  // asked after every step; true ends the run
  std::function<void(const std::string&)> on_piece;  // the next of Bench::pieces() begins
  std::function<void(const Row&)> on_row;            // timed, or as much of it as there was time for
};

class Bench {
 public:
  // Loads the model, plans every case and looks whether memory holds it, before anything is timed. Throws
  // Error(kUsage) for what cannot be, Error(kResource) for what does not fit.
  explicit Bench(const BenchOptions& options);
  ~Bench();

  size_t pieces() const;
  // False when it was stopped.
  bool run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::bench
