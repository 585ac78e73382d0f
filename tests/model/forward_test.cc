// The forward pass by itself: outputs, refusals, memory, rigged weights.
#include "model/forward.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "support/dense_attention.h"
#include "support/mixing_attention.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::model {
namespace {

class ForwardTest : public testing::Test {
 protected:
  test::TinyModel file_;
  std::shared_ptr<const Weights> weights_ = Weights::load(file_.path());
  test::MixingAttention attention_{weights_->hparams()};
  std::vector<int32_t> tokens_ = test::tiny_text(8);
  std::vector<int32_t> positions_ = test::ascending(8);
};

TEST_F(ForwardTest, OutputsSelectRows) {
  Forward forward(weights_, {.max_tokens = 8, .max_outputs = 8});
  const size_t vocabulary = size_t(weights_->hparams().vocabulary);
  const auto all = forward.run({tokens_, positions_, positions_}, attention_);
  const std::vector<float> every(all.begin(), all.end());
  const std::vector<int32_t> wanted = {1, 6, 7};
  const auto some = forward.run({tokens_, positions_, wanted}, attention_);
  ASSERT_EQ(some.size(), wanted.size() * vocabulary);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(std::equal(some.begin() + std::ptrdiff_t(i * vocabulary),
                           some.begin() + std::ptrdiff_t((i + 1) * vocabulary),
                           every.begin() + std::ptrdiff_t(size_t(wanted[i]) * vocabulary)));
  }
  EXPECT_TRUE(forward.run({tokens_, positions_, {}}, attention_).empty());
}

// Counts the calls of each layer; out must be writable for all tokens.
class CountingAttention : public test::MixingAttention {
 public:
  using test::MixingAttention::MixingAttention;
  void attend(const LayerInputs& in) noexcept override {
    if (in.ith == 0) calls[size_t(in.layer)] += in.tokens;
    test::MixingAttention::attend(in);
  }
  std::vector<int> calls = std::vector<int>(8);
};

TEST_F(ForwardTest, EveryLayerSeesExactlyTheTokensOfTheBatch) {
  Forward forward(weights_, {.threads = 2, .max_tokens = 8, .max_outputs = 1});
  CountingAttention attention(weights_->hparams());
  forward.run({std::span(tokens_).first(1), std::span(positions_).first(1), {}}, attention);  // padded inside
  forward.run({tokens_, positions_, {}}, attention);
  EXPECT_EQ(attention.calls, (std::vector<int>{9, 9, 0, 0, 0, 0, 0, 0}));
}

TEST_F(ForwardTest, RefusesWhatGgmlWouldAbortOn) {
  Forward forward(weights_, {.max_tokens = 4, .max_outputs = 2});
  const auto refused = [&](std::vector<int32_t> tokens, std::vector<int32_t> positions,
                           std::vector<int32_t> outputs) {
    try {
      forward.run({tokens, positions, outputs}, attention_);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(refused({}, {}, {}));
  EXPECT_TRUE(refused({1, 2, 3, 4, 5}, {0, 1, 2, 3, 4}, {}));
  EXPECT_TRUE(refused({1, 2}, {0}, {}));
  EXPECT_TRUE(refused({-1}, {0}, {}));
  EXPECT_TRUE(refused({test::kTinyVocabulary}, {0}, {}));
  EXPECT_TRUE(refused({1}, {-1}, {}));
  EXPECT_TRUE(refused({1}, {0}, {1}));
  EXPECT_TRUE(refused({1, 2}, {0, 1}, {1, 0}));
  EXPECT_TRUE(refused({1, 2}, {0, 1}, {1, 1}));
  EXPECT_TRUE(refused({1, 2, 3}, {0, 1, 2}, {0, 1, 2}));
  EXPECT_FALSE(refused({1, 2, 3}, {0, 1, 2147483647}, {0, 2}));
  EXPECT_THROW(Forward(weights_, {.threads = 0}), Error);
  EXPECT_THROW(Forward(weights_, {.threads = 100000}), Error);
  EXPECT_THROW(Forward(weights_, {.max_tokens = 0}), Error);
  EXPECT_THROW(Forward(weights_, {.max_tokens = 4, .max_outputs = 5}), Error);
}

TEST_F(ForwardTest, MemoryIsFinalAfterConstruction) {
  Forward forward(weights_, {.max_tokens = 8, .max_outputs = 8});
  const uint64_t bytes = forward.compute_bytes();
  const auto run = [&](size_t tokens, size_t outputs) {
    const std::span<const int32_t> ids(tokens_), places(positions_);
    forward.run({ids.first(tokens), places.first(tokens), places.first(outputs)}, attention_);
  };
  for (size_t tokens = 1; tokens <= 8; ++tokens) {
    for (size_t outputs = 0; outputs <= tokens; ++outputs) run(tokens, outputs);
  }
  EXPECT_EQ(forward.compute_bytes(), bytes);
  // ggml itself takes and gives back a few bytes in every step, which glibc's caches may keep; a leak of 2
  // bytes a step would show.
  const size_t heap = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) run(3, 1);
  const size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, heap + 2000);
}

TEST(RiggedWeights, GreedyOutputWalksTheCycle) {
  const std::vector<int32_t> cycle = {test::kThink, 'h', 'm', ' ', test::kEndThink, '4', '2', test::kImEnd};
  for (const char* family : {"llama", "qwen3"}) {
    const test::TinyModel file({.family = family, .cycle = cycle});
    const auto weights = Weights::load(file.path());
    Forward forward(weights, {.max_tokens = 1, .max_outputs = 1});
    test::DenseAttention attention(weights->hparams());
    int32_t token = '!';  // not in the cycle: leads to its start
    for (int32_t step = 0; step < 20; ++step) {
      const int32_t output = 0;
      const auto logits = forward.run({{&token, 1}, {&step, 1}, {&output, 1}}, attention);
      token = int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
      ASSERT_EQ(token, cycle[size_t(step) % cycle.size()]) << family << ", step " << step;
    }
  }
}

TEST(RiggedWeights, NanEmbeddingReachesTheLogits) {
  const test::TinyModel file({.nan_token = 'x'});
  const auto weights = Weights::load(file.path());
  test::MixingAttention attention(weights->hparams());
  const std::vector<int32_t> tokens = {'a', 'x'};
  const auto logits = test::forced_logits(weights, attention, tokens, 2, 1);
  const size_t vocabulary = size_t(weights->hparams().vocabulary);
  EXPECT_TRUE(std::all_of(logits.begin(), logits.begin() + std::ptrdiff_t(vocabulary),
                          [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(std::isnan(logits[vocabulary]));
}

}  // namespace
}  // namespace vase::model
