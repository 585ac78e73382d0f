#include "text/tokenizer.h"

#include <filesystem>
#include <limits>

#include "ggml_log/quiet_ggml.h"
#include "gguf.h"
#include "llama.h"
#include "text/stream.h"
#include "text/vocabulary_check.h"
#include "vase/error.h"

namespace vase::text {
namespace {

using File = std::unique_ptr<gguf_context, decltype(&gguf_free)>;

File open_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw Error(ErrorCode::kNotFound, "no model file at " + path);
  }
  File file(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}), gguf_free);
  if (!file) throw Error(ErrorCode::kCorrupt, path + " is not a complete GGUF file");
  return file;
}

// Why libllama could not load the file, without the line end and the name of the function that logged it.
std::string reason_of(const std::string& error) {
  const std::string_view mark = "error loading model: ";
  const size_t at = error.rfind(mark);
  std::string text = at == std::string::npos ? error : error.substr(at + mark.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

struct Tokenizer::Impl {
  llama_model* model = nullptr;
  const llama_vocab* vocabulary = nullptr;
  ~Impl() { llama_model_free(model); }

  bool has(int32_t token) const { return token >= 0 && token < llama_vocab_n_tokens(vocabulary); }
};

Tokenizer::Tokenizer() : impl_(std::make_unique<Impl>()) {}
Tokenizer::~Tokenizer() = default;

std::shared_ptr<const Tokenizer> Tokenizer::load(const std::string& path) {
  const QuietGgml quiet;
  check_vocabulary(open_file(path).get());
  std::shared_ptr<Tokenizer> tokenizer(new Tokenizer);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  params.n_gpu_layers = 0;
  tokenizer->impl_->model = llama_model_load_from_file(path.c_str(), params);
  if (!tokenizer->impl_->model) {
    throw Error(ErrorCode::kUnsupported, "cannot read the vocabulary: " + reason_of(quiet.first_error()));
  }
  tokenizer->impl_->vocabulary = llama_model_get_vocab(tokenizer->impl_->model);
  return tokenizer;
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool add_special, bool parse_special) const {
  if (const size_t at = find_invalid_utf8(text); at != std::string_view::npos) {
    throw Error(ErrorCode::kUsage, "the text is not valid UTF-8 at byte " + std::to_string(at));
  }
  // Room for one token per byte and the two that add_special may add: always enough, so one call does.
  constexpr size_t kLongest = std::numeric_limits<int32_t>::max() - 2;
  if (text.size() > kLongest) {
    throw Error(ErrorCode::kUsage, "the text has " + std::to_string(text.size()) + " bytes; at most " +
                                       std::to_string(kLongest) + " are allowed");
  }
  std::vector<int32_t> tokens(text.size() + 2);
  try {
    const int32_t count =
        llama_tokenize(impl_->vocabulary, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                       static_cast<int32_t>(tokens.size()), add_special, parse_special);
    if (count >= 0) {
      tokens.resize(count);
      return tokens;
    }
    // More tokens than bytes: the vocabulary writes some byte with several tokens.
    tokens.resize(-static_cast<int64_t>(count));
    llama_tokenize(impl_->vocabulary, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                   static_cast<int32_t>(tokens.size()), add_special, parse_special);
    return tokens;
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kCorrupt, std::string("the vocabulary cannot express this text: ") + e.what());
  }
}

std::string Tokenizer::piece(int32_t token, bool special) const {
  if (!impl_->has(token)) return {};
  std::string bytes(32, '\0');
  int32_t size =
      llama_token_to_piece(impl_->vocabulary, token, bytes.data(), static_cast<int32_t>(bytes.size()), 0, special);
  if (size < 0) {
    bytes.resize(-size);
    size = llama_token_to_piece(impl_->vocabulary, token, bytes.data(), static_cast<int32_t>(bytes.size()), 0, special);
  }
  bytes.resize(size);
  return bytes;
}

bool Tokenizer::ends_generation(int32_t token) const {
  return impl_->has(token) && llama_vocab_is_eog(impl_->vocabulary, token);
}

int Tokenizer::size() const { return llama_vocab_n_tokens(impl_->vocabulary); }

std::string Tokenizer::token_text(int32_t token) const {
  return impl_->has(token) ? llama_vocab_get_text(impl_->vocabulary, token) : "";
}

int32_t Tokenizer::bos() const { return llama_vocab_bos(impl_->vocabulary); }
int32_t Tokenizer::eos() const { return llama_vocab_eos(impl_->vocabulary); }

std::string Tokenizer::chat_template() const {
  const char* source = llama_model_chat_template(impl_->model, nullptr);
  return source ? source : "";
}

}  // namespace vase::text
