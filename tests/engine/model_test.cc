// What only shows when weights and vocabulary of a file come together.
#include "vase/model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/model_impl.h"
#include "support/edit_gguf.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase {
namespace {

TEST(Model, AsManyTokensAsRowsOfTheEmbedding) {
  const test::TinyModel source;
  const std::string path = test::temporary_path(".gguf");
  for (const int change : {-1, 1}) {
    std::vector<std::string> texts;
    for (int i = 0; i < test::kTinyVocabulary + change; ++i) texts.push_back("t" + std::to_string(i));
    std::vector<const char*> tokens;
    for (const std::string& text : texts) tokens.push_back(text.c_str());
    test::edit_gguf(source.path(), path, {.keys = [&](gguf_context* file) {
                      const std::vector<int32_t> types(tokens.size(), 1);
                      gguf_set_arr_str(file, "tokenizer.ggml.tokens", tokens.data(), tokens.size());
                      gguf_set_arr_data(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
                      gguf_remove_key(file, "tokenizer.ggml.scores");
                      for (const char* name : {"bos", "eos", "eot", "unknown", "padding"}) {
                        gguf_remove_key(file, ("tokenizer.ggml." + std::string(name) + "_token_id").c_str());
                      }
                      gguf_set_val_u32(file, "tokenizer.ggml.eos_token_id", 1);
                    }});
    try {
      Model::load(path);
      ADD_FAILURE() << "loaded " << tokens.size() << " tokens";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
      const std::string want = std::to_string(tokens.size()) + " tokens, but token_embd.weight has 261 rows";
      EXPECT_NE(std::string(e.what()).find(want), std::string::npos) << e.what();
    }
  }
  std::filesystem::remove(path);
}

TEST(Model, ProductsAreOwnUnlessThoseOfGgmlAreAskedFor) {
  const test::TinyModel file({.type = GGML_TYPE_Q4_0});
  const auto packed = [](const Model& model) { return model.impl().weights->layers()[0].wq.packed != nullptr; };
  EXPECT_TRUE(packed(*Model::load(file.path())));
  EXPECT_FALSE(packed(*Model::load(file.path(), Products::kGgml)));
}

}  // namespace
}  // namespace vase
