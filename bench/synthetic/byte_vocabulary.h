// A byte-level vocabulary for generated model files: complete, tiny, and read by libllama as well.
#pragma once

#include <cstdint>

struct gguf_context;

namespace vase::synthetic {

// Tokens 0 .. 255 are the bytes, then these.
constexpr int32_t kEndOfText = 256;  // <|endoftext|>, BOS
constexpr int32_t kImStart = 257;    // <|im_start|>
constexpr int32_t kImEnd = 258;      // <|im_end|>, EOS
constexpr int32_t kThink = 259;      // <think>
constexpr int32_t kEndThink = 260;   // </think>
constexpr int kByteVocabulary = 261;

// Adds a "gpt2" tokenizer of these tokens, padded with unused ones to `size`, and a ChatML chat template.
void add_byte_vocabulary(gguf_context* file, int size);

}  // namespace vase::synthetic
