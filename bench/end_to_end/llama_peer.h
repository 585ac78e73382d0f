// libllama on the same file, decoding at the same depth: the peer that our numbers stand beside.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vase/rows.h"

namespace vase::bench {

struct PeerOptions {
  int sequences = 1;
  int threads = 1;
  int depth = 0;                    // tokens that every sequence has seen
  int steps = 64;                   // room for so many decode steps
  RowType kv_type = RowType::kF16;  // of keys and values
  bool flash_attention = true;
};

// One model file, shared by contexts of different modes.
class LlamaModel {
 public:
  explicit LlamaModel(const std::string& path);
  ~LlamaModel();
  void* get() const { return model_; }

 private:
  void* model_;
};

class LlamaPeer {
 public:
  // The cache is filled through libllama's own state interface with random rows.
  LlamaPeer(const LlamaModel& model, const PeerOptions& options);
  ~LlamaPeer();
  void step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::bench
