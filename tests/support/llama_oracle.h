// Teacher-forced logits of libllama, to hold our own forward pass against.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vase::test {

struct OracleOptions {
  bool flash_attention = false;
  bool f16_kv = false;  // else f32
  bool repack = true;   // weights in ggml's faster layouts, as vase::model::LoadOptions
  int threads = 1;
  int chunk = 64;   // tokens per batch
  int context = 0;  // 0: as many as there are tokens
};

// Logits [tokens.size()][vocabulary]. Throws std::runtime_error when libllama refuses the file.
std::vector<float> llama_logits(const std::string& path, std::span<const int32_t> tokens,
                                const OracleOptions& options = {});

// Tokens of a text by libllama's tokenizer.
std::vector<int32_t> llama_tokens(const std::string& path, const std::string& text);

}  // namespace vase::test
