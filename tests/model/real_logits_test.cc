// A real model on real text against libllama, nothing evicted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/dense_attention.h"
#include "support/edit_gguf.h"
#include "support/kl.h"
#include "support/llama_oracle.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"

namespace vase::model {
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

class RealLogits : public testing::Test {
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

  std::vector<float> ours(const std::string& path, bool f16_rows) {
    const auto weights = Weights::load(path);
    test::DenseAttention attention(weights->hparams(), f16_rows);
    return test::forced_logits(weights, attention, tokens_, 64, 1);
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
TEST_F(RealLogits, QuantisedWeightsAreAsCloseAsLibllamasModesToEachOther) {
  const auto plain = test::llama_logits(path_, tokens_, {.f16_kv = true});
  const auto flash = test::llama_logits(path_, tokens_, {.flash_attention = true, .f16_kv = true});
  const auto mine = ours(path_, true);
  const auto modes = kl(plain, flash), against_plain = kl(plain, mine), against_flash = kl(flash, mine);
  record("libllama plain, libllama flash", modes);
  record("libllama plain, ours", against_plain);
  record("libllama flash, ours", against_flash);
  EXPECT_LE(std::min(against_plain.mean, against_flash.mean), 1.2 * modes.mean);
}

TEST_F(RealLogits, F32WeightsAreEqual) {
  struct Copy {
    std::string path = test::temporary_path("-f32.gguf");
    ~Copy() { std::filesystem::remove(path); }
  } copy;
  test::decode_gguf(path_, copy.path);
  const auto theirs = test::llama_logits(copy.path, tokens_);
  const auto distance = kl(theirs, ours(copy.path, false));
  record("f32: libllama, ours", distance);
  EXPECT_LE(distance.mean, 1e-5);
  EXPECT_LE(distance.max, 1e-3);
}

}  // namespace
}  // namespace vase::model
