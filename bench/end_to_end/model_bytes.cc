#include "end_to_end/model_bytes.h"

#include <ggml-cpp.h>
#include <gguf.h>

#include <string_view>

#include "model/packed_product.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

uint64_t laid_out_bytes(const ggml_tensor* tensor, model::WeightLayout layout) {
  const auto shape = layout == model::WeightLayout::kOwn ? model::packable(tensor) : std::nullopt;
  return shape ? kernels::packed_bytes(*shape) : ggml_nbytes(tensor);
}

}  // namespace

ModelBytes model_bytes(const std::string& path, model::WeightLayout layout) {
  ggml_context* tensors = nullptr;
  const gguf_context_ptr file(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = &tensors}));
  const ggml_context_ptr owner(tensors);
  if (!file) throw Error(ErrorCode::kCorrupt, path + ": cannot be read as GGUF");
  const bool tied = gguf_find_tensor(file.get(), "output.weight") < 0;
  ModelBytes bytes;
  for (ggml_tensor* t = ggml_get_first_tensor(tensors); t; t = ggml_get_next_tensor(tensors, t)) {
    const bool embedding = ggml_get_name(t) == std::string_view("token_embd.weight");
    if (embedding) bytes.resident += ggml_nbytes(t);  // rows are looked up in the file's layout
    if (embedding && !tied) continue;
    const uint64_t size = laid_out_bytes(t, layout);
    bytes.resident += size;
    bytes.step += size;
  }
  return bytes;
}

}  // namespace vase::bench
