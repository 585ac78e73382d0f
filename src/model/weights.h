// A loaded model file: validated hyper-parameters and the weights as ggml tensors, quantised matrices in
// ggml's repacked or AMX layout where the CPU has a faster kernel for them, everything else mapped from the
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/hparams.h"

struct ggml_tensor;

namespace vase::model {

struct LayerWeights {
  ggml_tensor* attn_norm = nullptr;
  ggml_tensor *wq = nullptr, *wk = nullptr, *wv = nullptr, *wo = nullptr;
  ggml_tensor *bq = nullptr, *bk = nullptr, *bv = nullptr, *bo = nullptr;  // null when absent
  ggml_tensor *q_norm = nullptr, *k_norm = nullptr;                        // qwen3
  ggml_tensor *ffn_norm = nullptr, *gate = nullptr, *up = nullptr, *down = nullptr;
  ggml_tensor* rope_factors = nullptr;  // shared; null when absent
};

struct LoadOptions {
  bool repack = true;  // false: every tensor stays mapped in the file's own layout
};

class Weights {
 public:
  // Throws Error: kNotFound, kCorrupt or kUnsupported, naming the key or tensor, what was found and what is
  // needed.
  static std::shared_ptr<const Weights> load(const std::string& path, const LoadOptions& options = {});
  ~Weights();

  const HParams& hparams() const;
  const std::vector<LayerWeights>& layers() const;
  ggml_tensor* token_embedding() const;
  ggml_tensor* output_norm() const;
  ggml_tensor* output() const;      // [vocabulary x embedding]; a second, repacked copy when tied
  uint64_t file_bytes() const;
  std::string fingerprint() const;  // 16 hex digits over the header and samples of the data, for records

 private:
  Weights();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What is known about a file without loading it.
struct ModelHeader {
  HParams hparams;
  uint64_t file_bytes = 0;
  std::string fingerprint;  // as Weights::fingerprint()
};

// Reads and validates the header only (for `vase info`); same errors as load(). Neither looks at the vocabulary.
ModelHeader read_header(const std::string& path);

}  // namespace vase::model
