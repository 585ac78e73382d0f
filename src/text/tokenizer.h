// Text <-> tokens, from the vocabulary in a model file (libllama, hidden inside).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vase::text {

class Tokenizer {
 public:
  // Loads the vocabulary only. Throws Error(kCorrupt / kUnsupported) that says what the file lacks.
  static std::shared_ptr<const Tokenizer> load(const std::string& path);
  ~Tokenizer();

  // add_special: prepend BOS / append EOS as the model file asks; parse_special: "<|im_start|>" is one token.
  // Invalid UTF-8 is an Error(kUsage) that names the byte offset.
  std::vector<int32_t> encode(std::string_view text, bool add_special, bool parse_special) const;
  // Bytes of one token; special tokens give their text only when `special`. Bytes may be part of a character.
  std::string piece(int32_t token, bool special = false) const;
  bool ends_generation(int32_t token) const;
  int size() const;
  std::string token_text(int32_t token) const;      // raw vocabulary entry; empty outside of the vocabulary
  int32_t bos() const;                              // -1 when absent
  int32_t eos() const;
  std::string chat_template() const;                // source, empty when the file has none

 private:
  Tokenizer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::text
