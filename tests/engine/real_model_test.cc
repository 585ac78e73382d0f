// A real model on real text: logits against libllama with nothing evicted, and memory over thousands of tokens.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/engine_helpers.h"
#include "support/edit_gguf.h"
#include "support/kl.h"
#include "support/llama_oracle.h"
#include "support/resident.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"

namespace vase {
namespace {

constexpr size_t kTokens = 640;
constexpr size_t kMeasured = 576;  // rows that are compared: the last ones

std::string problems() {
  std::ifstream in(VASE_SHARED_DIR "/data/gsm8k.jsonl");
  std::string text;
  for (std::string line; text.size() < 8 * kTokens && std::getline(in, line);) {
    text += nlohmann::json::parse(line)["problem"].get<std::string>() + "\n\n";
  }
  return text;
}

class RealModel : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("VASE_TEST_MODEL");
    if (path == nullptr)
      GTEST_SKIP() << "VASE_TEST_MODEL does not name a model file; see scripts/fetch-model";
    path_ = path;
    const std::string text = problems();
    if (text.empty()) GTEST_SKIP() << "no problem texts in " VASE_SHARED_DIR "/data";
    tokens_ = test::llama_tokens(path_, text);
    ASSERT_GE(tokens_.size(), kTokens);
    tokens_.resize(kTokens);
  }

  std::vector<float> ours(const std::string& path, RowType rows) {
    Engine engine(Model::load(path), Policy::parse("vase-attnv"),
                  {.budget = kTokens, .key_type = rows, .value_type = rows}, {.threads = 2, .logit_rows = 64});
    std::vector<float> all;
    engine.force(tokens_, 1, {}, [&](int64_t, std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    return all;
  }

  test::KlStatistics kl(const std::vector<float>& reference, const std::vector<float>& other) const {
    const size_t vocabulary = reference.size() / kTokens, skip = (kTokens - kMeasured) * vocabulary;
    return test::kl_divergence(std::span(reference).subspan(skip), std::span(other).subspan(skip),
                               vocabulary);
  }
  void record(const char* name, const test::KlStatistics& kl) {
    RecordProperty(std::string(name) + "_mean_kl", std::to_string(kl.mean));
    std::printf("%-34s mean KL %.3g, max %.3g nats, other top-1 %.2f %%\n", name, kl.mean, kl.max,
                100 * kl.other_top);
  }

  std::string path_;
  std::vector<int32_t> tokens_;
};

// Quantised products round activations, which blows up any difference in the last bit; libllama's own two
// attention modes are the yardstick.
TEST_F(RealModel, QuantisedWeightsAreAsCloseAsLibllamasModesToEachOther) {
  const auto plain = test::llama_logits(path_, tokens_, {.f16_kv = true});
  const auto flash = test::llama_logits(path_, tokens_, {.flash_attention = true, .f16_kv = true});
  const auto mine = ours(path_, RowType::kF16);
  const auto modes = kl(plain, flash), against_plain = kl(plain, mine), against_flash = kl(flash, mine);
  record("libllama plain, libllama flash", modes);
  record("libllama plain, ours", against_plain);
  record("libllama flash, ours", against_flash);
  EXPECT_LE(std::min(against_plain.mean, against_flash.mean), 1.2 * modes.mean);
}

TEST_F(RealModel, F32WeightsAreEqual) {
  struct Copy {
    std::string path = test::temporary_path("-f32.gguf");
    ~Copy() { std::filesystem::remove(path); }
  } copy;
  test::decode_gguf(path_, copy.path);
  const auto theirs = test::llama_logits(copy.path, tokens_);
  const auto distance = kl(theirs, ours(copy.path, RowType::kF32));
  record("f32: libllama, ours", distance);
  EXPECT_LE(distance.mean, 1e-5);
  EXPECT_LE(distance.max, 1e-3);
}

// Memory is final from the start: 4,000 generated tokens, after a short prompt and after one of ten times the budget.
TEST_F(RealModel, ResidentSizeIsFlat) {
  if (test::sanitized()) GTEST_SKIP() << "a sanitizer's own memory grows";
  const auto model = Model::load(path_);
  for (const size_t prompt : {size_t(40), kTokens}) {
    Engine engine(model, Policy::parse("vase-attnv"), {.budget = 64, .buffer = 32}, {.threads = 2});
    const long growth = test::growth_kib(engine, {tokens_.begin(), tokens_.begin() + prompt}, 4000);
    EXPECT_LE(growth, 1024) << "after a prompt of " << prompt;
  }
}

// The same text with 1 and 2 threads, alone and beside another session.
TEST_F(RealModel, SameTextWhateverRunsBesideIt) {
  const auto model = Model::load(path_);
  const std::vector<int32_t> prompt(tokens_.begin(), tokens_.begin() + 100);
  const auto run = [&](int threads, int neighbours) {
    Engine engine(model, Policy::parse("vase-attnv"), {.budget = 96, .buffer = 32},
                  {.sequences = 1 + neighbours, .threads = threads});
    SessionOptions options;
    options.max_tokens = 120;
    options.sampling.seed = 3;
    for (int i = 0; i < neighbours; ++i) {
      engine.submit({tokens_.begin() + 50 * i, tokens_.begin() + 130 + 60 * i}, options);
    }
    const auto session = engine.submit(prompt, options);
    while (engine.step([](Session&, std::string_view) {}) > 0) {
    }
    return std::vector<int32_t>(session->generated().begin(), session->generated().end());
  };
  const auto want = run(1, 0);
  EXPECT_EQ(run(2, 0), want);
  EXPECT_EQ(run(2, 2), want);
}

}  // namespace
}  // namespace vase
