// Our forward pass against libllama's on the same files, teacher-forced, nothing evicted.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "support/dense_attention.h"
#include "support/llama_oracle.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"

namespace vase::model {
namespace {

using test::TinyOptions;

constexpr int kTokens = 512;

std::vector<float> our_logits(const std::string& path, std::span<const int32_t> tokens,
                              bool f16_rows = false) {
  const auto weights = Weights::load(path);
  test::DenseAttention attention(weights->hparams(), f16_rows);
  return test::forced_logits(weights, attention, tokens, 64, 1);
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const float difference = std::fabs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // NaN sticks
  }
  return largest;
}

struct Case {
  const char* name;
  TinyOptions options;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class TinyLogits : public testing::TestWithParam<Case> {};

TEST_P(TinyLogits, EqualLibllamas) {
  const test::TinyModel file(GetParam().options);
  const std::vector<int32_t> tokens = test::tiny_text(kTokens);
  const auto ours = our_logits(file.path(), tokens);
  const auto theirs = test::llama_logits(file.path(), tokens);
  EXPECT_LE(largest_difference(ours, theirs), 1e-4f);
}

TinyOptions heads(const char* family, int query_heads, int kv_heads, int head_dim) {
  return {.family = family, .query_heads = query_heads, .kv_heads = kv_heads, .head_dim = head_dim};
}
TinyOptions scaled(const char* family, const char* kind, float factor, int original = 0,
                   float attn_factor = 0) {
  return {.family = family,
          .rope_scaling = kind,
          .rope_factor = factor,
          .rope_original_context = original,
          .rope_attn_factor = attn_factor};
}

INSTANTIATE_TEST_SUITE_P(Families, TinyLogits,
                         testing::Values(Case{"llama", {.family = "llama"}},
                                         Case{"qwen2", {.family = "qwen2"}},
                                         Case{"qwen3", {.family = "qwen3"}},
                                         Case{"llama_tied", {.family = "llama", .tied = true}},
                                         Case{"qwen3_tied", {.family = "qwen3", .tied = true}},
                                         Case{"llama_all_biases", {.output_bias = true, .qkv_bias = true}},
                                         Case{"qwen3_narrow_stream", {.family = "qwen3", .embedding = 96}}),
                         [](const auto& p) { return std::string(p.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Shapes, TinyLogits,
    testing::Values(Case{"h4_4", heads("llama", 4, 4, 64)}, Case{"h4_1", heads("qwen2", 4, 1, 64)},
                    Case{"h6_2", heads("qwen3", 6, 2, 64)}, Case{"h7_1", heads("llama", 7, 1, 64)},
                    Case{"d80", heads("llama", 4, 2, 80)}, Case{"d96", heads("qwen2", 4, 2, 96)},
                    Case{"d100", heads("llama", 4, 2, 100)}, Case{"d112", heads("qwen3", 4, 2, 112)},
                    Case{"d128", heads("qwen3", 4, 2, 128)}, Case{"d256", heads("llama", 2, 1, 256)},
                    Case{"d320", heads("qwen3", 2, 1, 320)}),
    [](const auto& p) { return std::string(p.param.name); });

INSTANTIATE_TEST_SUITE_P(Rope, TinyLogits,
                         testing::Values(Case{"factors", {.rope_factors = true}},
                                         Case{"base", {.family = "qwen3", .rope_base = 1e6f}},
                                         Case{"linear", scaled("llama", "linear", 4)},
                                         Case{"none", scaled("qwen2", "none", 4)},
                                         Case{"yarn", scaled("qwen3", "yarn", 4, 128)},
                                         Case{"yarn_llama", scaled("llama", "yarn", 8, 64)},
                                         Case{"yarn_one", scaled("qwen2", "yarn", 1, 64)},
                                         Case{"yarn_attn_factor", scaled("qwen2", "yarn", 2.5f, 200, 0.8f)}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Logits, HalfPrecisionRows) {
  const test::TinyModel file({.family = "qwen3"});
  const std::vector<int32_t> tokens = test::tiny_text(kTokens);
  const auto ours = our_logits(file.path(), tokens, true);
  const auto theirs = test::llama_logits(file.path(), tokens, {.flash_attention = true, .f16_kv = true});
  EXPECT_LE(largest_difference(ours, theirs),
            2e-2f);  // libllama rounds the queries too, and sums in half precision
}

}  // namespace
}  // namespace vase::model
