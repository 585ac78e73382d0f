// Writes tiny model files with random weights: real GGUFs of every supported family that libllama loads as
// well.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <string>
#include <vector>

#include "synthetic/byte_vocabulary.h"

namespace vase::test {

// The vocabulary: tokens 0 .. 255 are the bytes, then the special ones.
using synthetic::kEndOfText, synthetic::kImStart, synthetic::kImEnd, synthetic::kThink, synthetic::kEndThink;
constexpr int kTinyVocabulary = synthetic::kByteVocabulary;

struct TinyOptions {
  std::string family = "llama";  // "llama", "qwen2" (with biases), "qwen3" (with q/k norm)
  int layers = 2;
  int query_heads = 4, kv_heads = 2;
  int head_dim = 64;
  int embedding = 0;  // 0: query_heads * head_dim
  int feed_forward = 128;
  int context = 4096;                // positions seen in training
  int vocabulary = kTinyVocabulary;  // more: padded with unused tokens
  ggml_type type = GGML_TYPE_F32;    // of the matrices; a row must be a multiple of its block
  bool tied = false;                 // no output.weight
  bool output_bias = false;          // a bias after attention's output (llama)
  bool qkv_bias = false;             // also without being qwen2
  uint64_t seed = 1;

  float rope_base = 10000;
  std::string rope_scaling;       // "", "none", "linear", "yarn"
  float rope_factor = 4;          // with rope_scaling
  int rope_original_context = 0;  // with rope_scaling; 0: key left out
  float rope_attn_factor = 0;     // 0: key left out
  bool rope_factors = false;      // a rope_freqs tensor (llama)

  // Not empty: greedy output walks this cycle of distinct tokens, whatever came before: the next token
  // depends on the current one alone. Any other token leads to cycle[0]. Takes embedding = 512 (llama,
  // qwen3).
  std::vector<int32_t> cycle;
  int32_t nan_token = -1;  // its embedding row is NaN (f32 only)
  bool opens_thinking = false;  // the chat template ends in "<think>\n", as those of reasoning models do
};

// Throws std::runtime_error when the file cannot be written.
void write_tiny_gguf(const std::string& path, const TinyOptions& options);

// A file in the test's temporary folder, removed with the object.
class TinyModel {
 public:
  explicit TinyModel(const TinyOptions& options = {});
  ~TinyModel();
  TinyModel(const TinyModel&) = delete;
  TinyModel& operator=(const TinyModel&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A path that no other test uses, in the temporary folder.
std::string temporary_path(const std::string& suffix);

// `count` byte tokens of English-like text, the same for the same seed.
std::vector<int32_t> tiny_text(int count, uint64_t seed = 1);

}  // namespace vase::test
