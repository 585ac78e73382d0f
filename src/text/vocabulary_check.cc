#include "text/vocabulary_check.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "gguf.h"
#include "vase/error.h"

namespace vase::text {
namespace {

constexpr const char* kModel = "tokenizer.ggml.model";
constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kSpecialIds[] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                                       "tokenizer.ggml.eot_token_id", "tokenizer.ggml.unknown_token_id",
                                       "tokenizer.ggml.padding_token_id"};

using File = std::unique_ptr<gguf_context, decltype(&gguf_free)>;

[[noreturn]] void corrupt(const std::string& what) { throw Error(ErrorCode::kCorrupt, what); }

File open_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw Error(ErrorCode::kNotFound, "no model file at " + path);
  }
  File file(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}), gguf_free);
  if (!file) corrupt(path + " is not a complete GGUF file");
  return file;
}

// Number of strings in an array; -1 when the key is absent.
int64_t string_count(const gguf_context* file, const char* key) {
  const int64_t id = gguf_find_key(file, key);
  if (id < 0) return -1;
  if (gguf_get_kv_type(file, id) != GGUF_TYPE_ARRAY || gguf_get_arr_type(file, id) != GGUF_TYPE_STRING) {
    corrupt(std::string(key) + " is not an array of strings");
  }
  return static_cast<int64_t>(gguf_get_arr_n(file, id));
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

}  // namespace

void check_vocabulary(const std::string& path) {
  const File file = open_file(path);
  const std::string model = model_name(file.get());
  if (model == "no_vocab" || model == "none") {
    throw Error(ErrorCode::kUnsupported, std::string("the file has no vocabulary: ") + kModel + " is '" + model + "'");
  }
  const int64_t count = string_count(file.get(), kTokens);
  if (count < 0) corrupt(std::string("the file has no vocabulary: key ") + kTokens + " is missing");
  if (count == 0) corrupt(std::string(kTokens) + " is empty");
  check_distinct(file.get(), count);
  if (model == "gpt2" && string_count(file.get(), kMerges) < 0) {
    corrupt(std::string("a vocabulary of kind 'gpt2' (BPE) needs the key ") + kMerges + ", which is missing");
  }
  check_special_ids(file.get(), count);
}

}  // namespace vase::text
