// A loaded model file: validated hyper-parameters and the weights. Quantised matrices are laid out for our own products
// where there is one for their type, else in ggml's repacked or AMX layout where the CPU has a faster kernel for them;
// everything else is mapped from the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/hparams.h"
#include "model/packed_product.h"

struct ggml_tensor;

namespace vase::model {

// A weight matrix [out x in]: in our layout, or as a tensor that ggml multiplies by.
struct Matrix {
  ggml_tensor* tensor = nullptr;
  kernels::PackedShape shape;
  const std::byte* packed = nullptr;  // when it is set, `tensor` is not
};

struct LayerWeights {
  ggml_tensor* attn_norm = nullptr;
  Matrix wq, wk, wv, wo;
  ggml_tensor *bq = nullptr, *bk = nullptr, *bv = nullptr, *bo = nullptr;  // null when absent
  ggml_tensor *q_norm = nullptr, *k_norm = nullptr;                        // qwen3
  ggml_tensor* ffn_norm = nullptr;
  Matrix gate, up, down;
  ggml_tensor* rope_factors = nullptr;  // shared; null when absent
};

enum class WeightLayout : uint8_t {
  kOwn,   // ours where we have it, else as kGgml
  kGgml,  // ggml's faster layouts where it has them, else as kFile
  kFile,  // mapped as in the file
};

struct LoadOptions {
  WeightLayout layout = WeightLayout::kOwn;
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
  const Matrix& output() const;  // [vocabulary x embedding]; a copy of its own when tied
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
