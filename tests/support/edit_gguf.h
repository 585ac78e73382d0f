// Takes a sound model file and writes a copy with chosen faults.
#pragma once

#include <gguf.h>

#include <functional>
#include <string>

namespace vase::test {

struct GgufEdit {
  std::function<void(gguf_context*)> keys;  // changes, adds or removes keys; may be empty
  std::function<std::string(const std::string& tensor)>
      rename;  // new name; empty text drops the tensor; may be empty
};

void edit_gguf(const std::string& from, const std::string& to, const GgufEdit& edit);

// A copy with every quantised tensor decoded to f32.
void decode_gguf(const std::string& from, const std::string& to);

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace vase::test
