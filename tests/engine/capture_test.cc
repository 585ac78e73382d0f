// Rows of a model as it makes them for a text.
#include "vase/capture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "policies/tri_stats.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase {
namespace {

using test::TinyModel;
using test::TinyOptions;

struct Captured {
  std::map<int, std::vector<float>> queries, keys, values, plain_queries, plain_keys;  // by layer, all tokens
};

Captured capture_all(const Model& model, const std::vector<int32_t>& tokens, const CaptureOptions& options) {
  Captured all;
  capture(model, tokens, options, [&](const LayerRows& rows) {
    const auto add = [&](std::map<int, std::vector<float>>& to, std::span<const float> x) {
      to[rows.layer].insert(to[rows.layer].end(), x.begin(), x.end());
    };
    const ModelShape& s = model.shape();
    EXPECT_EQ(all.keys[rows.layer].size(), size_t(rows.first) * s.kv_heads * s.head_dim);
    add(all.queries, rows.queries);
    add(all.keys, rows.keys);
    add(all.values, rows.values);
    add(all.plain_queries, rows.plain_queries);
    add(all.plain_keys, rows.plain_keys);
  });
  return all;
}

TEST(Capture, RowsBeforeTheRotationRotateToTheOthers) {
  for (const char* family : {"llama", "qwen3"}) {  // adjacent pairs; halves
    const TinyModel file{TinyOptions{.family = family, .layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 32}};
    const auto model = Model::load(file.path());
    const Captured all = capture_all(*model, test::tiny_text(40), {.threads = 2, .chunk = 16});
    const bool adjacent = std::string(family) == "llama";
    const auto expect_rotated = [&](const std::vector<float>& plain, const std::vector<float>& rotated, int heads) {
      ASSERT_EQ(plain.size(), size_t(40) * heads * 32);
      for (size_t row = 0; row < size_t(40) * heads; ++row) {
        for (int f = 0; f < 16; ++f) {
          const size_t a = row * 32 + (adjacent ? 2 * f : f), b = row * 32 + (adjacent ? 2 * f + 1 : f + 16);
          const double angle = double(row / heads) * std::pow(10000.0, -f / 16.0);
          EXPECT_NEAR(rotated[a], plain[a] * std::cos(angle) - plain[b] * std::sin(angle), 2e-4);
          EXPECT_NEAR(rotated[b], plain[a] * std::sin(angle) + plain[b] * std::cos(angle), 2e-4);
        }
      }
    };
    expect_rotated(all.plain_queries.at(1), all.queries.at(1), 4);
    expect_rotated(all.plain_keys.at(1), all.keys.at(1), 2);
  }
}

TEST(Capture, NeitherChunksNorThreadsMatterAndOnlyWantedLayersCome) {
  const TinyModel file{TinyOptions{.layers = 3}};
  const auto model = Model::load(file.path());
  const auto tokens = test::tiny_text(30);
  const Captured all = capture_all(*model, tokens, {.threads = 1, .chunk = 7});
  const Captured one = capture_all(*model, tokens, {.threads = 2, .chunk = 64, .layers = {2}});
  EXPECT_EQ(all.values.size(), 3u);
  ASSERT_EQ(one.values.size(), 1u);
  EXPECT_EQ(one.values.at(2), all.values.at(2));
  EXPECT_EQ(one.plain_queries.at(2), all.plain_queries.at(2));
}

TEST(Capture, RefusesWhatCannotBe) {
  const TinyModel file;
  const auto model = Model::load(file.path());
  const auto ignore = [](const LayerRows&) {};
  const std::vector<int32_t> tokens = test::tiny_text(5), outside = {1, 1 << 20};
  EXPECT_THROW(capture(*model, {}, {}, ignore), Error);
  EXPECT_THROW(capture(*model, outside, {}, ignore), Error);
  EXPECT_THROW(capture(*model, tokens, {.layers = {2}}, ignore), Error);
  EXPECT_THROW(capture(*model, tokens, {.layers = {-1}}, ignore), Error);
  EXPECT_THROW(capture(*model, tokens, {.chunk = 0}, ignore), Error);
  EXPECT_THROW(capture(*model, tokens, {}, [](const LayerRows&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
}

// The file holds the means of the captured queries, and a policy takes it.
TEST(Capture, CalibrationOfTriAttention) {
  const TinyModel file{TinyOptions{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 32}};
  const auto model = Model::load(file.path());
  const std::vector<std::vector<int32_t>> texts = {test::tiny_text(20, 1), test::tiny_text(30, 2)};
  const std::string path = test::temporary_path(".tri");
  size_t told = 0;
  calibrate_triattention(*model, texts, 1, path, [&](size_t text) { EXPECT_EQ(text, told++); });
  EXPECT_EQ(told, 2u);
  const TriStats stats = read_tri_stats(path);
  EXPECT_EQ(stats.pairs, 16);
  EXPECT_TRUE(stats.adjacent);
  for (int channel = 0; channel < 32; ++channel) {
    double sum = 0;
    for (const auto& text : texts) {
      const auto rows = capture_all(*model, text, {.threads = 1}).plain_queries.at(1);
      for (size_t t = 0; t < text.size(); ++t) sum += rows[(t * 4 + 3) * 32 + channel];
    }
    EXPECT_NEAR(stats.mean_of(1, 3)[channel], sum / 50, 1e-4) << channel;
  }
  std::remove(path.c_str());
  EXPECT_THROW(calibrate_triattention(*model, texts, 1, "/nowhere/stats", {}), Error);
}

}  // namespace
}  // namespace vase
