// libllama as its users have it by default, always taking the most probable token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace vase::bench {

struct LlamaText {
  std::string text;             // special tokens left out
  std::vector<int32_t> tokens;  // with the one that ended it
  bool ended = false;           // by the model; else it ran into max_tokens
};

class GreedyLlama {
 public:
  // context: most tokens of prompt and text together. Throws Error(kUnsupported) for a file that libllama
  // cannot load, kResource when memory is not enough.
  GreedyLlama(const std::string& path, int context, int threads);
  ~GreedyLlama();

  // Throws Error(kResource) when libllama fails to decode.
  LlamaText answer(std::span<const int32_t> prompt, int max_tokens);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::bench
