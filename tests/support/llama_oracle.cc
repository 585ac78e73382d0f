#include "support/llama_oracle.h"

#include <llama-cpp.h>

#include <algorithm>
#include <stdexcept>

namespace vase::test {
namespace {

llama_model_ptr load(const std::string& path, const OracleOptions& options) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.use_extra_bufts = options.repack;
  llama_model_ptr model(llama_model_load_from_file(path.c_str(), params));
  if (!model) throw std::runtime_error("libllama cannot load " + path);
  return model;
}

llama_context_ptr open_context(llama_model* model, size_t tokens, const OracleOptions& options) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = uint32_t(options.context > 0 ? size_t(options.context) : tokens);
  params.n_batch = params.n_ubatch = uint32_t(options.chunk);
  params.n_threads = params.n_threads_batch = options.threads;
  params.type_k = params.type_v = options.f16_kv ? GGML_TYPE_F16 : GGML_TYPE_F32;
  params.flash_attn_type =
      options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  llama_context_ptr context(llama_init_from_model(model, params));
  if (!context) throw std::runtime_error("libllama cannot open a context");
  return context;
}

}  // namespace

std::vector<float> llama_logits(const std::string& path, std::span<const int32_t> tokens,
                                const OracleOptions& options) {
  const llama_model_ptr model = load(path, options);
  const llama_context_ptr context = open_context(model.get(), tokens.size(), options);
  const size_t vocabulary = size_t(llama_vocab_n_tokens(llama_model_get_vocab(model.get())));
  std::vector<float> logits(tokens.size() * vocabulary);
  llama_batch batch = llama_batch_init(options.chunk, 0, 1);
  for (size_t begin = 0; begin < tokens.size(); begin += size_t(options.chunk)) {
    batch.n_tokens = int32_t(std::min(tokens.size() - begin, size_t(options.chunk)));
    for (int32_t i = 0; i < batch.n_tokens; ++i) {
      batch.token[i] = tokens[begin + size_t(i)];
      batch.pos[i] = int32_t(begin) + i;
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = 1;
    }
    if (llama_decode(context.get(), batch) != 0) {
      llama_batch_free(batch);
      throw std::runtime_error("libllama cannot decode");
    }
    const float* out = llama_get_logits(context.get());
    std::copy(out, out + size_t(batch.n_tokens) * vocabulary,
              logits.begin() + std::ptrdiff_t(begin * vocabulary));
  }
  llama_batch_free(batch);
  return logits;
}

std::vector<int32_t> llama_tokens(const std::string& path, const std::string& text) {
  const llama_model_ptr model = load(path, {});
  const llama_vocab* vocabulary = llama_model_get_vocab(model.get());
  std::vector<int32_t> tokens(text.size() + 8);
  const int count = llama_tokenize(vocabulary, text.data(), int32_t(text.size()), tokens.data(),
                                   int32_t(tokens.size()), true, true);
  if (count < 0) throw std::runtime_error("libllama cannot tokenize");
  tokens.resize(size_t(count));
  return tokens;
}

}  // namespace vase::test
