#include "text/vocabulary_check.h"

#include <string>
#include <string_view>
#include <unordered_set>

#include "gguf.h"
#include "vase/error.h"

namespace vase::text {
namespace {

constexpr const char* kModel = "tokenizer.ggml.model";
constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kScores = "tokenizer.ggml.scores";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kSpecialIds[] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                                       "tokenizer.ggml.eot_token_id", "tokenizer.ggml.unknown_token_id",
                                       "tokenizer.ggml.padding_token_id"};

[[noreturn]] void corrupt(const std::string& what) { throw Error(ErrorCode::kCorrupt, what); }

// Number of elements of an array; -1 when the key is absent.
int64_t array_length(const gguf_context* file, const char* key, gguf_type type) {
  const int64_t id = gguf_find_key(file, key);
  if (id < 0) return -1;
  if (gguf_get_kv_type(file, id) != GGUF_TYPE_ARRAY || gguf_get_arr_type(file, id) != type) {
    corrupt(std::string(key) + " is not an array of " + gguf_type_name(type));
  }
  return static_cast<int64_t>(gguf_get_arr_n(file, id));
}

// An array with one entry per token, when it is there.
void check_per_token(const gguf_context* file, const char* key, gguf_type type, int64_t count) {
  const int64_t length = array_length(file, key, type);
  if (length < 0 || length == count) return;
  corrupt(std::string(key) + " has " + std::to_string(length) + " entries for " + std::to_string(count) + " tokens");
}

std::string model_name(const gguf_context* file) {
  const int64_t id = gguf_find_key(file, kModel);
  if (id < 0) corrupt(std::string("the file has no vocabulary: key ") + kModel + " is missing");
  if (gguf_get_kv_type(file, id) != GGUF_TYPE_STRING) corrupt(std::string(kModel) + " is not a string");
  return gguf_get_val_str(file, id);
}

void check_distinct(const gguf_context* file, int64_t count) {
  const int64_t id = gguf_find_key(file, kTokens);
  std::unordered_set<std::string_view> seen;
  seen.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view token = gguf_get_arr_str(file, id, i);
    if (token.empty()) corrupt(std::string(kTokens) + ": token " + std::to_string(i) + " is empty");
    if (!seen.insert(token).second) {
      corrupt(std::string(kTokens) + ": token " + std::to_string(i) + " '" + std::string(token) + "' occurs twice");
    }
  }
}

void check_special_ids(const gguf_context* file, int64_t count) {
  for (const char* key : kSpecialIds) {
    const int64_t id = gguf_find_key(file, key);
    if (id < 0) continue;
    if (gguf_get_kv_type(file, id) != GGUF_TYPE_UINT32) corrupt(std::string(key) + " is not a 32-bit unsigned number");
    const uint32_t token = gguf_get_val_u32(file, id);
    if (token >= count) {
      corrupt(std::string(key) + " is " + std::to_string(token) + ", but the vocabulary has " + std::to_string(count) +
              " tokens");
    }
  }
}

void check_kind(const std::string& model) {
  if (model == "no_vocab" || model == "none") {
    throw Error(ErrorCode::kUnsupported, std::string("the file has no vocabulary: ") + kModel + " is '" + model + "'");
  }
  if (model == "gpt2" || model == "llama") return;
  throw Error(ErrorCode::kUnsupported,
              "the tokenizer '" + model + "' is not supported; supported: gpt2 (BPE), llama (SentencePiece)");
}

}  // namespace

void check_vocabulary(const gguf_context* file) {
  const std::string model = model_name(file);
  check_kind(model);
  const int64_t count = array_length(file, kTokens, GGUF_TYPE_STRING);
  if (count < 0) corrupt(std::string("the file has no vocabulary: key ") + kTokens + " is missing");
  if (count == 0) corrupt(std::string(kTokens) + " is empty");
  check_distinct(file, count);
  check_per_token(file, kScores, GGUF_TYPE_FLOAT32, count);
  check_per_token(file, kTypes, GGUF_TYPE_INT32, count);
  if (array_length(file, kMerges, GGUF_TYPE_STRING) < 0 && model == "gpt2") {
    corrupt(std::string("a vocabulary of kind 'gpt2' (BPE) needs the key ") + kMerges + ", which is missing");
  }
  check_special_ids(file, count);
}

}  // namespace vase::text
