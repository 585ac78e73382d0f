// A model file: weights, vocabulary, chat template. Immutable once loaded; any number of engines may share it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vase/export.h"

namespace vase {

// The numbers that decide what a cache costs and what a user wants to know about a file.
struct ModelShape {
  std::string architecture, name;
  int layers = 0, query_heads = 0, kv_heads = 0, head_dim = 0;
  int embedding = 0, vocabulary = 0;
  int trained_context = 0;    // positions seen in training
  uint64_t file_bytes = 0;
  std::string fingerprint;    // identifies the file in records, 16 hex digits

  int group() const { return query_heads / kv_heads; }
};

struct ChatMessage {
  std::string role;     // "system", "user", "assistant"
  std::string content;  // UTF-8
};

// Whose products of quantised matrices run. Both round the other factor to 8 bits, in different ways.
enum class Products : uint8_t {
  kOwn,   // vase's, where it has them for the type of the weights
  kGgml,  // those of ggml, as in llama.cpp: slower
};

class VASE_API Model {
 public:
  // Throws Error: kNotFound, kCorrupt or kUnsupported, naming what was found and what is needed.
  static std::shared_ptr<const Model> load(const std::string& path, Products products = Products::kOwn);
  ~Model();

  const ModelShape& shape() const;
  // Tokens of a text; special tokens in it are recognised. Throws Error(kUsage) for invalid UTF-8.
  std::vector<int32_t> tokenize(std::string_view text, bool add_special = true) const;
  // Bytes of one token; may be a part of a character.
  std::string piece(int32_t token) const;
  bool ends_generation(int32_t token) const;
  bool has_chat_template() const;
  // The conversation rendered with the file's own template, ready for the model to answer.
  std::string render_chat(std::span<const ChatMessage> messages) const;
  // The same as tokens. A special token that is spelled inside of a message counts as ordinary text.
  std::vector<int32_t> tokenize_chat(std::span<const ChatMessage> messages) const;

  struct Impl;  // internal
  const Impl& impl() const { return *impl_; }

 private:
  Model();
  std::unique_ptr<Impl> impl_;
};

// Header and hyper-parameters only; same errors as Model::load.
VASE_API ModelShape read_model_shape(const std::string& path);

}  // namespace vase
