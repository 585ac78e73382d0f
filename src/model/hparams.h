// Hyper-parameters of a model file, all validated against the tensors before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vase::model {

enum class RopeKind : uint8_t {
  kAdjacent,
  kHalves
};  // llama: pairs (2i, 2i+1); qwen2, qwen3: pairs (i, i + d/2)

struct HParams {
  std::string architecture;  // "llama", "qwen2", "qwen3"
  std::string name;          // general.name, may be empty
  int layers = 0;
  int embedding = 0;  // width of the residual stream
  int feed_forward = 0;
  int query_heads = 0;      // H * G
  int kv_heads = 0;         // H
  int head_dim = 0;         // d; key and value heads have the same width
  int vocabulary = 0;       // rows of token_embd
  int trained_context = 0;  // positions seen in training
  float rms_epsilon = 0;

  RopeKind rope = RopeKind::kAdjacent;
  int rope_dims = 0;  // rotated channels, <= head_dim
  float rope_base = 10000;
  float rope_scale = 1;  // 1 / scaling factor, as ggml's freq_scale
  int rope_original_context = 0;
  float yarn_ext_factor = 0, yarn_attn_factor = 1, yarn_beta_fast = 32, yarn_beta_slow = 1;

  bool tied_embeddings = false;  // no output.weight: the head is token_embd
  bool qk_norm = false;          // qwen3

  int group() const { return query_heads / kv_heads; }
};

}  // namespace vase::model
