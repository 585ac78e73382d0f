// A checked GGUF file in memory: typed access to its keys, its tensors as ggml tensors without data.
#pragma once

#include <gguf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "vase/error.h"

struct ggml_context;
struct ggml_tensor;

namespace vase::model {

class GgufFile {
 public:
  // `bytes` is the whole file and must outlive the object; `name` begins every error. Throws as check_gguf()
  // does.
  GgufFile(std::span<const std::byte> bytes, std::string name);
  ~GgufFile();
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  // Throws Error with the file's name in front.
  [[noreturn]] void fail(ErrorCode code, const std::string& what) const;

  // Values of keys; empty when the key is absent. Throw Error(kCorrupt) when it has another type.
  std::optional<int64_t> whole_number(const std::string& key) const;  // any integer type
  std::optional<double> number(const std::string& key) const;         // f32 or f64
  std::optional<bool> flag(const std::string& key) const;
  std::optional<std::string> text(const std::string& key) const;
  // Length of an array whose elements have the type; empty when the key is absent.
  std::optional<size_t> array_length(const std::string& key, gguf_type type) const;

  const gguf_context* keys() const { return gguf_; }
  int tensors() const;
  const char* tensor_name(int index) const;
  ggml_tensor* find_tensor(const std::string& name) const;  // null when absent
  // The tensor's bytes in the file.
  std::span<const std::byte> data(const ggml_tensor* tensor) const;
  std::span<const std::byte> header() const;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  // Index of the key, checked to hold one of the value types; -1 when absent.
  int64_t find(const std::string& key, std::initializer_list<gguf_type> types, const char* wanted) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  gguf_context* gguf_ = nullptr;
  ggml_context* context_ = nullptr;
  struct Entry {
    ggml_tensor* tensor;
    int64_t index;
  };
  std::unordered_map<std::string_view, Entry> by_name_;
};

}  // namespace vase::model
