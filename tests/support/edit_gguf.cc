#include "support/edit_gguf.h"

#include <ggml-cpp.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace vase::test {

void edit_gguf(const std::string& from, const std::string& to, const GgufEdit& edit) {
  ggml_context* tensors = nullptr;
  const gguf_context_ptr source(gguf_init_from_file(from.c_str(), {.no_alloc = false, .ctx = &tensors}));
  const ggml_context_ptr owner(tensors);
  const gguf_context_ptr copy(gguf_init_empty());
  gguf_set_kv(copy.get(), source.get());
  if (edit.keys) edit.keys(copy.get());
  for (int64_t i = 0; i < gguf_get_n_tensors(source.get()); ++i) {
    const std::string name = gguf_get_tensor_name(source.get(), i);
    const std::string renamed = edit.rename ? edit.rename(name) : name;
    if (renamed.empty()) continue;
    ggml_tensor* tensor = ggml_get_tensor(tensors, name.c_str());
    ggml_set_name(tensor, renamed.c_str());
    gguf_add_tensor(copy.get(), tensor);
    ggml_set_name(tensor, name.c_str());
  }
  if (!gguf_write_to_file(copy.get(), to.c_str(), false)) throw std::runtime_error("cannot write " + to);
}

void decode_gguf(const std::string& from, const std::string& to) {
  ggml_context* tensors = nullptr;
  const gguf_context_ptr source(gguf_init_from_file(from.c_str(), {.no_alloc = false, .ctx = &tensors}));
  const ggml_context_ptr owner(tensors);
  size_t elements = 0;
  for (ggml_tensor* t = ggml_get_first_tensor(tensors); t; t = ggml_get_next_tensor(tensors, t)) {
    elements += size_t(ggml_nelements(t));
  }
  const ggml_context_ptr decoded(ggml_init({elements * sizeof(float) + (size_t(16) << 20), nullptr, false}));
  const gguf_context_ptr copy(gguf_init_empty());
  gguf_set_kv(copy.get(), source.get());
  for (int64_t i = 0; i < gguf_get_n_tensors(source.get()); ++i) {
    const ggml_tensor* tensor = ggml_get_tensor(tensors, gguf_get_tensor_name(source.get(), i));
    ggml_tensor* out = ggml_new_tensor(decoded.get(), GGML_TYPE_F32, GGML_MAX_DIMS, tensor->ne);
    ggml_set_name(out, tensor->name);
    const auto decode = ggml_get_type_traits(tensor->type)->to_float;
    if (decode) {
      decode(tensor->data, static_cast<float*>(out->data), ggml_nelements(tensor));
    } else {
      std::memcpy(out->data, tensor->data, ggml_nbytes(tensor));
    }
    gguf_add_tensor(copy.get(), out);
  }
  if (!gguf_write_to_file(copy.get(), to.c_str(), false)) throw std::runtime_error("cannot write " + to);
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), std::streamsize(bytes.size()));
  if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace vase::test
