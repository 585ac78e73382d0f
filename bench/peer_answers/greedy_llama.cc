#include "greedy_llama.h"

#include <llama-cpp.h>

#include <algorithm>

#include "vase/error.h"

namespace vase::bench {
namespace {

llama_model_ptr load(const std::string& path) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model_ptr model(llama_model_load_from_file(path.c_str(), llama_model_default_params()));
  if (!model) throw Error(ErrorCode::kUnsupported, "libllama cannot load " + path);
  return model;
}

// Attention, row types and batches as libllama chooses them.
llama_context_ptr open_context(llama_model* model, int context, int threads) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<uint32_t>(context);
  params.n_threads = params.n_threads_batch = threads;
  llama_context_ptr opened(llama_init_from_model(model, params));
  if (!opened) throw Error(ErrorCode::kResource, "libllama cannot make a context of this size");
  return opened;
}

std::string piece_of(const llama_vocab* vocabulary, llama_token token) {
  std::string piece(64, '\0');
  int bytes = llama_token_to_piece(vocabulary, token, piece.data(), static_cast<int>(piece.size()), 0, false);
  if (bytes < 0) {
    piece.resize(static_cast<size_t>(-bytes));
    bytes = llama_token_to_piece(vocabulary, token, piece.data(), -bytes, 0, false);
  }
  piece.resize(static_cast<size_t>(std::max(bytes, 0)));
  return piece;
}

}  // namespace

struct GreedyLlama::Impl {
  Impl(const std::string& path, int tokens, int threads)
      : model(load(path)),
        context(open_context(model.get(), tokens, threads)),
        vocabulary(llama_model_get_vocab(model.get())) {}

  void decode(std::span<llama_token> tokens) {
    if (llama_decode(context.get(),
                     llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))) != 0)
      throw Error(ErrorCode::kResource, "libllama failed to decode");
  }

  // Of the last token decoded.
  llama_token most_probable() {
    const float* logits = llama_get_logits_ith(context.get(), -1);
    return static_cast<llama_token>(std::max_element(logits, logits + llama_vocab_n_tokens(vocabulary)) -
                                    logits);
  }

  llama_model_ptr model;
  llama_context_ptr context;
  const llama_vocab* vocabulary;
};

GreedyLlama::GreedyLlama(const std::string& path, int context, int threads)
    : impl_(std::make_unique<Impl>(path, context, threads)) {}

GreedyLlama::~GreedyLlama() = default;

LlamaText GreedyLlama::answer(std::span<const int32_t> prompt, int max_tokens) {
  llama_memory_clear(llama_get_memory(impl_->context.get()), true);
  std::vector<llama_token> next(prompt.begin(), prompt.end());
  LlamaText out;
  while (static_cast<int>(out.tokens.size()) < max_tokens) {
    impl_->decode(next);
    next = {impl_->most_probable()};
    out.tokens.push_back(next[0]);
    out.ended = llama_vocab_is_eog(impl_->vocabulary, next[0]);
    if (out.ended) break;
    out.text += piece_of(impl_->vocabulary, next[0]);
  }
  return out;
}

}  // namespace vase::bench
