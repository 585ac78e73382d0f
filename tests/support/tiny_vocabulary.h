// The byte-level vocabulary of tiny model files, as GGUF keys.
#pragma once

struct gguf_context;

namespace vase::test {

// Adds a "gpt2" tokenizer of the 256 bytes and the special tokens, padded with unused tokens to `size`, and a ChatML
// chat template.
void add_tiny_vocabulary(gguf_context* file, int size);

}  // namespace vase::test
