// Generated models of real shapes: refusals (fast) and one small whole file.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "support/dense_attention.h"
#include "support/llama_oracle.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"
#include "synthetic/synthetic_model.h"
#include "vase/error.h"

namespace vase::synthetic {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::string path = test::temporary_path("-synthetic");
  ~Folder() { fs::remove_all(path); }
};

TEST(SyntheticModel, UnknownNamesListTheKnownOnes) {
  const Folder folder;
  try {
    synthetic_model("qwen3-5b", "q4_0", folder.path);
    FAIL() << "an unknown shape was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(error.what()).find("qwen3-4b"), std::string::npos);
  }
  EXPECT_THROW(synthetic_model("qwen3-4b", "q3", folder.path), Error);
  EXPECT_FALSE(fs::exists(folder.path));
}

TEST(SyntheticModel, LoadsHereAndInLibllamaWithFiniteLogits) {
  const Folder folder;
  const std::string path = synthetic_model("qwen3-0.6b", "q4_0", folder.path);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 1)
      << "a partial file is left";
  EXPECT_EQ(synthetic_model("qwen3-0.6b", "q4_0", folder.path), path);

  const auto weights = model::Weights::load(path);
  EXPECT_EQ(weights->hparams().vocabulary, 151936);
  EXPECT_TRUE(weights->hparams().tied_embeddings);
  test::DenseAttention attention(weights->hparams(), true);
  const std::vector<int32_t> tokens = test::tiny_text(4);
  const auto ours = test::forced_logits(weights, attention, tokens, 4, 1);
  const auto theirs = test::llama_logits(path, tokens, {.f16_kv = true});
  ASSERT_EQ(ours.size(), theirs.size());
  double square = 0, difference = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    ASSERT_TRUE(std::isfinite(ours[i]));
    square += double(theirs[i]) * theirs[i];
    difference += double(ours[i] - theirs[i]) * double(ours[i] - theirs[i]);
  }
  EXPECT_GT(square, 0);
  EXPECT_LT(std::sqrt(difference / square), 0.05);  // activations are rounded to 8 bits in both
}

}  // namespace
}  // namespace vase::synthetic
