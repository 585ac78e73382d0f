// The logits of a token are the same, bit for bit, whatever shares the batch with it, for every type of
// weight, in the file's layout and in the faster ones, and for any number of threads.
#include <gtest/gtest.h>

#include <cstring>

#include "model/columns.h"
#include "support/mixing_attention.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"

namespace vase::model {
namespace {

// Rows of wk and wv: 8, so that they miss the AMX layout (32) and take the repacked one (8) where there is
// one.
test::TinyOptions options_for(ggml_type type) {
  return {.query_heads = 32, .kv_heads = 1, .head_dim = 8, .feed_forward = 512, .type = type};
}

const char* layout_name(WeightLayout layout) {
  return layout == WeightLayout::kOwn ? "_own" : layout == WeightLayout::kGgml ? "_repacked" : "_mapped";
}

class BatchInvariance : public testing::TestWithParam<std::tuple<ggml_type, WeightLayout>> {};

TEST_P(BatchInvariance, LogitsDoNotDependOnTheBatch) {
  const auto [type, layout] = GetParam();
  const test::TinyModel file(options_for(type));
  const auto weights = Weights::load(file.path(), {.layout = layout});
  test::MixingAttention attention(weights->hparams());
  const std::vector<int32_t> tokens = test::tiny_text(37);
  const auto alone = test::forced_logits(weights, attention, tokens, 1, 1);
  for (const int chunk : {2, 3, 5, 8, 9, 16, 37}) {
    const auto together = test::forced_logits(weights, attention, tokens, chunk, 1);
    ASSERT_EQ(together.size(), alone.size());
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(float)), 0)
        << chunk << " tokens";
  }
  const auto two_threads = test::forced_logits(weights, attention, std::span(tokens).first(9), 9, 2);
  EXPECT_EQ(std::memcmp(two_threads.data(), alone.data(), two_threads.size() * sizeof(float)), 0)
      << "2 threads";
}

INSTANTIATE_TEST_SUITE_P(Types, BatchInvariance,
                         testing::Combine(testing::Values(GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16,
                                                          GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0,
                                                          GGML_TYPE_Q5_1, GGML_TYPE_Q8_0, GGML_TYPE_Q2_K,
                                                          GGML_TYPE_Q3_K, GGML_TYPE_Q4_K, GGML_TYPE_Q5_K,
                                                          GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS),
                                          testing::Values(WeightLayout::kOwn, WeightLayout::kGgml,
                                                          WeightLayout::kFile)),
                         [](const auto& p) {
                           return std::string(ggml_type_name(std::get<0>(p.param))) +
                                  layout_name(std::get<1>(p.param));
                         });

TEST(ColumnRule, PadsToTheLeastAndToTheMultiple) {
  EXPECT_EQ(ColumnRule{}.padded(1), 1);
  EXPECT_EQ((ColumnRule{.least = 2}.padded(1)), 2);
  EXPECT_EQ((ColumnRule{.least = 2}.padded(3)), 3);
  ColumnRule both{.least = 2};
  both.join({.multiple = 4});
  EXPECT_EQ(both.padded(1), 4);
  EXPECT_EQ(both.padded(5), 8);
}

}  // namespace
}  // namespace vase::model
