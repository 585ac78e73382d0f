#include "model/tokenizer_check.h"

#include <string_view>
#include <unordered_set>

namespace vase::model {
namespace {

void check_length(const GgufFile& file, const std::string& key, gguf_type type, size_t tokens) {
  const auto length = file.array_length(key, type);
  if (length && *length != tokens) {
    file.fail(ErrorCode::kCorrupt,
              key + " has " + std::to_string(*length) + " entries for " + std::to_string(tokens) + " tokens");
  }
}

void check_distinct(const GgufFile& file, const std::string& key, size_t tokens) {
  const int64_t id = gguf_find_key(file.keys(), key.c_str());
  std::unordered_set<std::string_view> seen;
  seen.reserve(tokens);
  for (size_t i = 0; i < tokens; ++i) {
    const std::string_view text = gguf_get_arr_str(file.keys(), id, i);
    if (!seen.insert(text).second) {
      file.fail(ErrorCode::kCorrupt,
                key + " has the same text twice, the second time as token " + std::to_string(i));
    }
  }
}

}  // namespace

void check_tokenizer(const GgufFile& file, const HParams& hparams) {
  const auto kind = file.text("tokenizer.ggml.model");
  if (!kind) file.fail(ErrorCode::kCorrupt, "there is no tokenizer in this file (key tokenizer.ggml.model)");
  if (*kind == "none" || *kind == "no_vocab") return;
  if (*kind != "gpt2" && *kind != "llama") {
    file.fail(ErrorCode::kUnsupported,
              "the tokenizer '" + *kind + "' is not supported; supported: gpt2 (BPE), llama (SPM)");
  }

  const std::string tokens_key = "tokenizer.ggml.tokens";
  const auto tokens = file.array_length(tokens_key, GGUF_TYPE_STRING);
  if (!tokens) file.fail(ErrorCode::kCorrupt, "the tokenizer has no vocabulary (key " + tokens_key + ")");
  if (*tokens != size_t(hparams.vocabulary)) {
    file.fail(ErrorCode::kCorrupt, tokens_key + " has " + std::to_string(*tokens) +
                                       " tokens, but token_embd.weight has " +
                                       std::to_string(hparams.vocabulary) + " rows; they must be equal");
  }
  check_distinct(file, tokens_key, *tokens);
  check_length(file, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, *tokens);
  check_length(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, *tokens);
  const auto merges = file.array_length("tokenizer.ggml.merges", GGUF_TYPE_STRING);
  if (*kind == "gpt2" && !merges) {
    file.fail(ErrorCode::kCorrupt, "the BPE tokenizer has no merges (key tokenizer.ggml.merges)");
  }

  for (const char* name : {"bos", "eos", "eot"}) {
    const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
    const auto token = file.whole_number(key);
    if (token && (*token < 0 || *token >= hparams.vocabulary)) {
      file.fail(ErrorCode::kCorrupt, key + " is " + std::to_string(*token) + "; allowed: 0 to " +
                                         std::to_string(hparams.vocabulary - 1));
    }
  }
}

}  // namespace vase::model
