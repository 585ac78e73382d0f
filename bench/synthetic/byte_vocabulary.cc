#include "synthetic/byte_vocabulary.h"

#include <gguf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vase::synthetic {
namespace {

enum TokenType : int32_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

constexpr const char* kChatTemplate =
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% "
    "endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

std::string utf8(int code) {  // below U+0800
  if (code < 0x80) return std::string(1, char(code));
  return {char(0xc0 | code >> 6), char(0x80 | (code & 0x3f))};
}

// GPT-2 writes every byte as a printable character: itself when it is one, else U+0100 and up in order.
std::vector<std::string> byte_characters() {
  std::vector<std::string> list;
  int next = 256;
  for (int b = 0; b < 256; ++b) {
    const bool printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    list.push_back(utf8(printable ? b : next++));
  }
  return list;
}

}  // namespace

void add_byte_vocabulary(gguf_context* file, int size) {
  std::vector<std::string> tokens = byte_characters();
  std::vector<int32_t> types(tokens.size(), kNormal);
  for (const char* token : {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"}) {
    types.push_back(token[1] == '|' ? kControl : kUserDefined);
    tokens.push_back(token);
  }
  while (int(tokens.size()) < size) {
    tokens.push_back("[PAD" + std::to_string(tokens.size()) + "]");
    types.push_back(kUnused);
  }
  std::vector<const char*> texts;
  for (const std::string& token : tokens) texts.push_back(token.c_str());

  gguf_set_val_str(file, "tokenizer.ggml.model", "gpt2");
  gguf_set_val_str(file, "tokenizer.ggml.pre", "gpt-2");
  gguf_set_arr_str(file, "tokenizer.ggml.tokens", texts.data(), texts.size());
  gguf_set_arr_data(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
  gguf_set_arr_str(file, "tokenizer.ggml.merges", nullptr, 0);
  gguf_set_val_u32(file, "tokenizer.ggml.bos_token_id", uint32_t(kEndOfText));
  gguf_set_val_u32(file, "tokenizer.ggml.eos_token_id", uint32_t(kImEnd));
  gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", false);
  gguf_set_val_str(file, "tokenizer.chat_template", kChatTemplate);
}

}  // namespace vase::synthetic
