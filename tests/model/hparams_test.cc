// Well-formed files whose contents this version must refuse by name, and what it reads from good ones.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "model/refusal.h"
#include "support/edit_gguf.h"
#include "support/tiny_gguf.h"

namespace vase::model {
namespace {

class HParamsTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Refusal refusal(const test::GgufEdit& edit) {
    test::edit_gguf(source_.path(), path_, edit);
    return refusal_of(path_);
  }
  Refusal with_u32(const std::string& key, uint32_t value) {
    return refusal({.keys = [&](gguf_context* file) { gguf_set_val_u32(file, key.c_str(), value); }});
  }
  Refusal with_f32(const std::string& key, float value) {
    return refusal({.keys = [&](gguf_context* file) { gguf_set_val_f32(file, key.c_str(), value); }});
  }
  Refusal with_text(const std::string& key, const std::string& value) {
    return refusal({.keys = [&](gguf_context* file) { gguf_set_val_str(file, key.c_str(), value.c_str()); }});
  }
  Refusal without(const std::string& key) {
    return refusal({.keys = [&](gguf_context* file) { gguf_remove_key(file, key.c_str()); }});
  }

  test::TinyModel source_;
  std::string path_ = test::temporary_path(".gguf");
};

TEST_F(HParamsTest, ReadsWhatTheFileSays) {
  const test::TinyModel file({.family = "qwen3",
                              .layers = 3,
                              .query_heads = 6,
                              .kv_heads = 2,
                              .head_dim = 80,
                              .embedding = 96,
                              .feed_forward = 160,
                              .context = 777,
                              .tied = true,
                              .rope_base = 5e5f,
                              .rope_scaling = "yarn",
                              .rope_factor = 4,
                              .rope_original_context = 123});
  const ModelHeader header = read_header(file.path());
  const HParams& h = header.hparams;
  EXPECT_EQ(h.architecture, "qwen3");
  EXPECT_EQ(h.layers, 3);
  EXPECT_EQ(h.query_heads, 6);
  EXPECT_EQ(h.kv_heads, 2);
  EXPECT_EQ(h.group(), 3);
  EXPECT_EQ(h.head_dim, 80);
  EXPECT_EQ(h.embedding, 96);
  EXPECT_EQ(h.feed_forward, 160);
  EXPECT_EQ(h.vocabulary, test::kTinyVocabulary);
  EXPECT_EQ(h.trained_context, 777);
  EXPECT_EQ(h.rope, RopeKind::kHalves);
  EXPECT_EQ(h.rope_base, 5e5f);
  EXPECT_EQ(h.rope_scale, 0.25f);
  EXPECT_EQ(h.yarn_ext_factor, 1);
  EXPECT_EQ(h.rope_original_context, 123);
  EXPECT_TRUE(h.tied_embeddings);
  EXPECT_TRUE(h.qk_norm);
  EXPECT_EQ(header.file_bytes, std::filesystem::file_size(file.path()));
  EXPECT_EQ(header.fingerprint, Weights::load(file.path())->fingerprint());
  EXPECT_EQ(header.fingerprint.size(), 16u);
  const test::TinyModel other({.family = "qwen3", .seed = 2});
  EXPECT_NE(read_header(other.path()).fingerprint, header.fingerprint);
}

TEST_F(HParamsTest, AbsurdNumbersAreNamed) {
  for (const uint32_t value : {513u, 0xffffffffu, 0u})
    EXPECT_SAYS(with_u32("llama.block_count", value), "llama.block_count");
  for (const uint32_t value : {0u, 1025u})
    EXPECT_SAYS(with_u32("llama.attention.head_count", value), "head_count");
  EXPECT_SAYS(with_u32("llama.attention.head_count_kv", 3), "multiple");
  EXPECT_SAYS(with_u32("llama.attention.head_count_kv", 0), "head_count_kv");
  EXPECT_SAYS(with_u32("llama.embedding_length", 0), "embedding_length");
  EXPECT_SAYS(with_u32("llama.feed_forward_length", 0), "feed_forward_length");
  EXPECT_SAYS(with_u32("llama.context_length", 0), "context_length");
  EXPECT_SAYS(with_u32("llama.rope.dimension_count", 66), "rope.dimension_count");
  EXPECT_SAYS(with_u32("llama.rope.dimension_count", 32), "not supported");
  EXPECT_SAYS(with_u32("llama.vocab_size", 0x80000000u), "vocab_size");
  EXPECT_SAYS(with_u32("llama.attention.key_length", 640), "key_length is 640");
  EXPECT_SAYS(with_u32("llama.attention.key_length", 63), "63");
  EXPECT_SAYS(with_u32("llama.attention.value_length", 32), "must be equal");
  for (const float value : {0.0f, -1.0f, NAN, INFINITY}) {
    EXPECT_SAYS(with_f32("llama.attention.layer_norm_rms_epsilon", value), "epsilon");
    EXPECT_SAYS(with_f32("llama.rope.freq_base", value), "freq_base");
  }
  EXPECT_SAYS(with_f32("llama.rope.scaling.factor", -2), "scaling.factor");
  EXPECT_SAYS(with_text("llama.block_count", "two"), "type str");
  EXPECT_SAYS(without("llama.block_count"), "llama.block_count is missing");
}

TEST_F(HParamsTest, HeadsMustDivideTheEmbedding) {
  const Refusal refused = refusal({.keys = [](gguf_context* file) {
    gguf_remove_key(file, "llama.attention.key_length");
    gguf_set_val_u32(file, "llama.attention.head_count", 7);
    gguf_set_val_u32(file, "llama.attention.head_count_kv", 7);
  }});
  EXPECT_SAYS(refused, "multiple of the 7 heads");
}

TEST_F(HParamsTest, ArchitecturesAreNamedAndListed) {
  for (const char* name : {"gemma4", "", "LLAMA"}) {
    const Refusal refused = with_text("general.architecture", name);
    EXPECT_EQ(refused.code, ErrorCode::kUnsupported);
    EXPECT_SAYS(refused, name);
    EXPECT_SAYS(refused, "llama, qwen2, qwen3");
  }
  EXPECT_SAYS(without("general.architecture"), "general.architecture");
  EXPECT_SAYS(with_u32("general.architecture", 7), "type u32");
}

TEST_F(HParamsTest, WhatWouldChangeTheMathematicsIsRefused) {
  EXPECT_SAYS(with_u32("llama.expert_count", 8), "mixtures of experts are not supported");
  EXPECT_SAYS(with_u32("llama.attention.sliding_window", 512), "sliding-window attention is not supported");
  EXPECT_SAYS(with_text("llama.rope.scaling.type", "longrope"), "'longrope' (supported: none, linear, yarn)");
  EXPECT_SAYS(
      refusal({.keys = [](gguf_context* file) { gguf_set_val_bool(file, "llama.attention.causal", false); }}),
      "not causal");
}

TEST_F(HParamsTest, MissingAndForeignTensors) {
  const auto renamed = [this](const std::string& from, const std::string& to) {
    return refusal({.rename = [&](const std::string& name) { return name == from ? to : name; }});
  };
  EXPECT_SAYS(renamed("blk.1.ffn_up.weight", ""),
              "tensor blk.1.ffn_up.weight not found (architecture llama expects it)");
  EXPECT_SAYS(renamed("token_embd.weight", ""), "tensor token_embd.weight not found");
  EXPECT_SAYS(renamed("blk.0.ffn_gate.weight", "blk.0.ffn_gate_exps.weight"),
              "blk.0.ffn_gate.weight not found");
  EXPECT_SAYS(renamed("output.weight", "output.bias"), "tensor output.bias is not part");
  EXPECT_SAYS(renamed("blk.0.attn_q.weight", "blk.0.attn_k.weight2"), "blk.0.attn_q.weight not found");
  EXPECT_SAYS(with_u32("llama.feed_forward_length", 64),
              "ffn_gate.weight has the shape 256 x 128; 256 x 64 is needed");
  EXPECT_SAYS(with_u32("llama.block_count", 3), "blk.2.attn_norm.weight not found");
  EXPECT_SAYS(with_u32("llama.block_count", 1), "blk.1.");
}

// The vocabulary is the tokenizer's business: a model can be run and described without one.
TEST_F(HParamsTest, TheVocabularyIsNotLookedAt) {
  test::edit_gguf(source_.path(), path_, {.keys = [](gguf_context* file) {
                    gguf_remove_key(file, "tokenizer.ggml.model");
                    gguf_remove_key(file, "tokenizer.ggml.tokens");
                  }});
  EXPECT_EQ(read_header(path_).hparams.vocabulary, test::kTinyVocabulary);
  EXPECT_EQ(Weights::load(path_)->hparams().vocabulary, test::kTinyVocabulary);
}

TEST_F(HParamsTest, SplitFilesSayWhichPartTheyAre) {
  const Refusal refused = refusal({.keys = [](gguf_context* file) {
    gguf_set_val_u16(file, "split.no", 1);
    gguf_set_val_u16(file, "split.count", 3);
  }});
  EXPECT_EQ(refused.code, ErrorCode::kUnsupported);
  EXPECT_SAYS(refused, "part 2 of 3");
  EXPECT_SAYS(refused, "merge");
}

TEST_F(HParamsTest, RopeFactorsMustBePositive) {
  const test::TinyModel file({.rope_factors = true});
  std::string bytes = test::read_bytes(file.path());
  const float one[] = {1.0f, 1 + 7.0f / 64, 1 + 14.0f / 64};  // the first factors
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(one), sizeof one));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, sizeof(float), sizeof(float), '\0');
  test::write_bytes(path_, bytes);
  EXPECT_SAYS(refusal_of(path_), "rope_freqs.weight");
}

}  // namespace
}  // namespace vase::model
