// libllama on the same file, at the same depth: the peer that our numbers stand beside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "vase/model.h"
#include "vase/rows.h"

namespace vase::bench {

struct PeerOptions {
  int sequences = 1;
  int threads = 1;
  int depth = 0;                    // tokens that every sequence has seen when a timed piece begins
  int tokens = 1;                   // the longest piece adds so many
  bool prompts = false;             // pieces may be prompts
  RowType kv_type = RowType::kF16;  // of keys and values
  bool flash_attention = true;
};

// One model file, shared by contexts of different modes.
class LlamaModel {
 public:
  // Throws Error(kUnsupported).
  explicit LlamaModel(const std::string& path);
  ~LlamaModel();
  void* get() const { return model_; }

 private:
  void* model_;
};

class LlamaPeer {
 public:
  // The cache is filled through libllama's own state interface with random rows, once. Throws
  // Error(kUnsupported / kResource).
  LlamaPeer(const LlamaModel& model, const ModelShape& shape, const PeerOptions& options);
  ~LlamaPeer();
  // Bytes that the constructor takes at most at a time, model and small buffers not counted.
  static uint64_t bytes_for(const ModelShape& shape, const PeerOptions& options);

  // As the methods of Rig. What was added to the cache is taken out again.
  void start();
  void read_prompts(int tokens, const std::function<void(int finished)>& on_chunk);
  void step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::bench
