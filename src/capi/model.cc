#include <vector>

#include "capi/handles.h"

using namespace vase::capi;

namespace {

const vase::Model& model_of(const vase_model* model) { return *required(model, "model").model; }

bool is_token(const vase::Model& model, int32_t token) { return token >= 0 && token < model.shape().vocabulary; }

// As much as fits, and a NUL behind it; reports the size that the whole takes.
void give_text(const std::string& text, char* out, size_t capacity, size_t* size) {
  require_array(out, capacity, "text");
  if (size) *size = text.size();
  if (capacity == 0) return;
  const size_t fits = std::min(text.size(), capacity - 1);
  std::memcpy(out, text.data(), fits);
  out[fits] = '\0';
}

void give_tokens(const std::vector<int32_t>& tokens, int32_t* out, size_t capacity, size_t* count) {
  require_array(out, capacity, "tokens");
  if (count) *count = tokens.size();
  std::copy_n(tokens.begin(), std::min(tokens.size(), capacity), out);
}

std::vector<vase::ChatMessage> chat_of(const vase_message* messages, size_t count) {
  require_array(messages, count, "messages");
  std::vector<vase::ChatMessage> chat;
  for (size_t i = 0; i < count; ++i) {
    chat.push_back(
        {&required(messages[i].role, "a message's role"), &required(messages[i].content, "a message's content")});
  }
  return chat;
}

}  // namespace

extern "C" {

vase_status vase_model_load(const char* path, vase_model** model) {
  return guarded_new(model, "model", [&] { return new vase_model{vase::Model::load(&required(path, "path"))}; });
}

void vase_model_free(vase_model* model) { delete model; }

vase_status vase_model_shape(const vase_model* model, vase_shape* shape, size_t size) {
  return guarded([&] {
    const vase::ModelShape& s = model_of(model).shape();
    give<vase_shape>({.architecture = s.architecture.c_str(),
                      .name = s.name.c_str(),
                      .fingerprint = s.fingerprint.c_str(),
                      .layers = s.layers,
                      .query_heads = s.query_heads,
                      .kv_heads = s.kv_heads,
                      .head_dim = s.head_dim,
                      .embedding = s.embedding,
                      .vocabulary = s.vocabulary,
                      .trained_context = s.trained_context,
                      .file_bytes = s.file_bytes},
                     &required(shape, "shape"), size);
  });
}

vase_status vase_model_tokenize(const vase_model* model, const char* text, size_t bytes, int special, int32_t* tokens,
                                size_t capacity, size_t* count) {
  return guarded([&] {
    require_array(text, bytes, "text");
    const std::string_view view(text ? text : "", bytes);
    give_tokens(model_of(model).tokenize(view, special != 0), tokens, capacity, count);
  });
}

vase_status vase_model_piece(const vase_model* model, int32_t token, char* text, size_t capacity, size_t* bytes) {
  return guarded([&] {
    if (!is_token(model_of(model), token)) {
      throw vase::Error(vase::ErrorCode::kUsage, "token " + std::to_string(token) +
                                                     " is outside of the vocabulary, 0 to " +
                                                     std::to_string(model_of(model).shape().vocabulary - 1));
    }
    give_text(model_of(model).piece(token), text, capacity, bytes);
  });
}

int vase_model_ends_generation(const vase_model* model, int32_t token) {
  return model && is_token(*model->model, token) && model->model->ends_generation(token);
}

int vase_model_has_chat_template(const vase_model* model) { return model && model->model->has_chat_template(); }

vase_status vase_model_render_chat(const vase_model* model, const vase_message* messages, size_t messages_count,
                                   char* text, size_t capacity, size_t* bytes) {
  return guarded(
      [&] { give_text(model_of(model).render_chat(chat_of(messages, messages_count)), text, capacity, bytes); });
}

vase_status vase_model_tokenize_chat(const vase_model* model, const vase_message* messages, size_t messages_count,
                                     int32_t* tokens, size_t capacity, size_t* count) {
  return guarded(
      [&] { give_tokens(model_of(model).tokenize_chat(chat_of(messages, messages_count)), tokens, capacity, count); });
}

}  // extern "C"
