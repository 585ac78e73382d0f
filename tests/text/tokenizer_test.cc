#include "text/tokenizer.h"

#include <gguf.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::text {
namespace {

// A file with nothing but metadata, as far as a vocabulary goes: three tokens and no weights.
class VocabularyFile {
 public:
  explicit VocabularyFile(const std::function<void(gguf_context*)>& change) : path_(test::temporary_path(".gguf")) {
    gguf_context* file = gguf_init_empty();
    const std::vector<const char*> tokens = {"a", "b", "c"};
    const std::vector<const char*> merges = {"a b"};
    gguf_set_val_str(file, "general.architecture", "llama");
    gguf_set_val_str(file, "tokenizer.ggml.model", "gpt2");
    gguf_set_val_str(file, "tokenizer.ggml.pre", "default");
    gguf_set_arr_str(file, "tokenizer.ggml.tokens", const_cast<const char**>(tokens.data()), tokens.size());
    gguf_set_arr_str(file, "tokenizer.ggml.merges", const_cast<const char**>(merges.data()), merges.size());
    change(file);
    gguf_write_to_file(file, path_.c_str(), true);
    gguf_free(file);
  }
  ~VocabularyFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void expect_refused(const std::function<void(gguf_context*)>& change, ErrorCode code, const std::string& word) {
  const VocabularyFile file(change);
  try {
    Tokenizer::load(file.path());
    ADD_FAILURE() << "loaded, wanted: " << word;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
  }
}

class TinyTokenizer : public testing::Test {
 protected:
  test::TinyModel model_;
  std::shared_ptr<const Tokenizer> tokenizer_ = Tokenizer::load(model_.path());
};

TEST_F(TinyTokenizer, RoundTripOfAnyText) {
  for (const std::string text : {"Hello, world!", " two  spaces ", "line\nline\t", "ь界😀", "0123"}) {
    std::string back;
    for (const int32_t token : tokenizer_->encode(text, false, true)) back += tokenizer_->piece(token);
    EXPECT_EQ(back, text);
  }
  EXPECT_TRUE(tokenizer_->encode("", false, true).empty());
}

TEST_F(TinyTokenizer, SpecialTokensOnlyWhenAsked) {
  EXPECT_EQ(tokenizer_->encode("<|im_start|>", false, true), std::vector<int32_t>{test::kImStart});
  EXPECT_EQ(tokenizer_->encode("<|im_start|>", false, false).size(), 12u);
  EXPECT_EQ(tokenizer_->piece(test::kImStart, true), "<|im_start|>");
  EXPECT_EQ(tokenizer_->piece(test::kImStart), "");
  EXPECT_TRUE(tokenizer_->ends_generation(test::kImEnd));
  EXPECT_FALSE(tokenizer_->ends_generation('a'));
}

TEST_F(TinyTokenizer, TokensOutsideOfTheVocabularyAreEmpty) {
  for (const int32_t token : {-1, tokenizer_->size(), 1 << 30}) {
    EXPECT_EQ(tokenizer_->piece(token), "");
    EXPECT_EQ(tokenizer_->token_text(token), "");
    EXPECT_FALSE(tokenizer_->ends_generation(token));
  }
}

TEST_F(TinyTokenizer, InvalidUtf8IsRefusedWithItsPlace) {
  try {
    tokenizer_->encode("abc\xFF", false, true);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(e.what()).find("byte 3"), std::string::npos) << e.what();
  }
}

TEST(Vocabulary, MissingOrBrokenKeysAreNamed) {
  using File = gguf_context*;
  const auto without = [](const char* key) { return [key](File f) { gguf_remove_key(f, key); }; };
  expect_refused(without("tokenizer.ggml.model"), ErrorCode::kCorrupt, "tokenizer.ggml.model");
  expect_refused(without("tokenizer.ggml.tokens"), ErrorCode::kCorrupt, "tokenizer.ggml.tokens");
  expect_refused(without("tokenizer.ggml.merges"), ErrorCode::kCorrupt, "tokenizer.ggml.merges");
  expect_refused([](File f) { gguf_set_val_u32(f, "tokenizer.ggml.model", 1); }, ErrorCode::kCorrupt, "not a string");
  expect_refused([](File f) { gguf_set_val_u32(f, "tokenizer.ggml.tokens", 1); }, ErrorCode::kCorrupt, "array");
  expect_refused([](File f) { gguf_set_val_str(f, "tokenizer.ggml.model", "none"); }, ErrorCode::kUnsupported, "none");
  expect_refused([](File f) { gguf_set_val_str(f, "tokenizer.ggml.model", "magic"); }, ErrorCode::kUnsupported,
                 "'magic' is not supported; supported: gpt2");
  expect_refused([](File f) { gguf_set_val_str(f, "tokenizer.ggml.pre", "odd"); }, ErrorCode::kUnsupported, "odd");
  expect_refused([](File f) { gguf_set_val_u32(f, "tokenizer.ggml.eos_token_id", 3); }, ErrorCode::kCorrupt,
                 "eos_token_id is 3");
  expect_refused([](File f) { gguf_set_val_str(f, "tokenizer.ggml.eos_token_id", "x"); }, ErrorCode::kCorrupt,
                 "eos_token_id");
  const auto with_array = [](const char* key, gguf_type type, int count) {
    return [=](File f) {
      const int32_t zeros[4] = {};
      gguf_set_arr_data(f, key, type, zeros, count);
    };
  };
  expect_refused(with_array("tokenizer.ggml.token_type", GGUF_TYPE_INT32, 2), ErrorCode::kCorrupt,
                 "token_type has 2 entries for 3 tokens");
  expect_refused(with_array("tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, 4), ErrorCode::kCorrupt,
                 "scores has 4 entries");
  expect_refused(with_array("tokenizer.ggml.scores", GGUF_TYPE_INT32, 3), ErrorCode::kCorrupt,
                 "scores is not an array");
  expect_refused(with_array("tokenizer.ggml.merges", GGUF_TYPE_INT32, 3), ErrorCode::kCorrupt,
                 "merges is not an array");
  expect_refused(with_array("tokenizer.ggml.tokens", GGUF_TYPE_INT32, 3), ErrorCode::kCorrupt,
                 "tokens is not an array");
  for (const char* second : {"a", ""}) {
    expect_refused(
        [second](File f) {
          const char* tokens[] = {"a", second, "c"};
          gguf_set_arr_str(f, "tokenizer.ggml.tokens", tokens, 3);
        },
        ErrorCode::kCorrupt, "token 1");
  }
}

TEST(Vocabulary, FilesThatAreNoModel) {
  EXPECT_THROW(Tokenizer::load("/nonexistent.gguf"), Error);
  EXPECT_THROW(Tokenizer::load("/"), Error);
}

TEST(Vocabulary, SentencePieceNeedsNoMerges) {
  const VocabularyFile file([](gguf_context* f) {
    const char* tokens[] = {"<unk>", "<s>", "</s>", "<0x0A>", "\u2581", "a"};
    const float scores[6] = {};
    const int32_t types[] = {2, 3, 3, 6, 1, 1};
    gguf_set_val_str(f, "tokenizer.ggml.model", "llama");
    gguf_set_arr_str(f, "tokenizer.ggml.tokens", tokens, 6);
    gguf_set_arr_data(f, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores, 6);
    gguf_set_arr_data(f, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types, 6);
    gguf_remove_key(f, "tokenizer.ggml.merges");
  });
  const auto tokenizer = Tokenizer::load(file.path());
  EXPECT_EQ(tokenizer->encode("a", true, true), (std::vector<int32_t>{1, 4, 5}));  // BOS, as such files ask by default
}

}  // namespace
}  // namespace vase::text
