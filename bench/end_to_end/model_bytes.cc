#include "end_to_end/model_bytes.h"

#include <ggml-cpp.h>
#include <gguf.h>

#include <string_view>

#include "vase/error.h"

namespace vase::bench {

ModelBytes model_bytes(const std::string& path) {
  const gguf_context_ptr file(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  if (!file) throw Error(ErrorCode::kCorrupt, path + ": cannot be read as GGUF");
  const bool tied = gguf_find_tensor(file.get(), "output.weight") < 0;
  ModelBytes bytes;
  for (int64_t i = 0; i < gguf_get_n_tensors(file.get()); ++i) {
    const uint64_t size = gguf_get_tensor_size(file.get(), i);
    const bool embedding = gguf_get_tensor_name(file.get(), i) == std::string_view("token_embd.weight");
    bytes.resident += embedding && tied ? 2 * size : size;
    if (!embedding || tied) bytes.step += size;
  }
  return bytes;
}

}  // namespace vase::bench
