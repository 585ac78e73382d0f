// Selection methods that read a part of the cache: what they score, and which blocks they choose.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "policies/read/choose.h"
#include "policies/read/oracle.h"
#include "policies/read/quest.h"

namespace vase {
namespace {

std::vector<float> normal(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> x(count);
  for (float& v : x) v = draw(random);
  return x;
}

std::vector<int> chosen(const ReadChoice& choice, const std::vector<float>& scores) {
  ChoiceScratch scratch(static_cast<int>(scores.size()));
  const auto marks = choose_blocks(choice, scores, scratch);
  std::vector<int> blocks;
  for (size_t b = 0; b < marks.size(); ++b) {
    if (marks[b]) blocks.push_back(static_cast<int>(b));
  }
  return blocks;
}

using Blocks = std::vector<int>;

TEST(ChooseBlocks, ByScoreWithTheLastAmongThemOrOnTop) {
  const std::vector<float> scores = {5, 1, 4, 2, 0};
  EXPECT_EQ(chosen({.blocks = 3, .last_among_them = true}, scores), (Blocks{0, 2, 4}));
  EXPECT_EQ(chosen({.blocks = 2}, scores), (Blocks{0, 2, 4}));
  EXPECT_EQ(chosen({.blocks = 0}, scores), (Blocks{4}));
  EXPECT_EQ(chosen({.blocks = 1, .last_among_them = true}, scores), (Blocks{4}));
  EXPECT_EQ(chosen({.blocks = 9}, scores), (Blocks{0, 1, 2, 3, 4}));
  EXPECT_EQ(chosen({.blocks = 1}, {1, 2, 3}), (Blocks{2})) << "the last block is the best one: nothing on top";
  EXPECT_EQ(chosen({.blocks = 7}, {1}), (Blocks{0}));
}

TEST(ChooseBlocks, TiesGoToTheEarlierAndNanLoses) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(chosen({.blocks = 2}, {1, 1, 1, 1, 0}), (Blocks{0, 1, 4}));
  EXPECT_EQ(chosen({.blocks = 2}, {nan, -inf, -nan, 3, 0}), (Blocks{3, 4}));
  EXPECT_EQ(chosen({.blocks = 3}, {nan, -inf, -nan, 3, 0}), (Blocks{1, 3, 4}));
}

TEST(ChooseBlocks, Threshold) {
  EXPECT_EQ(chosen({.blocks = 1, .threshold = 0.25f}, {0.3f, 0.25f, 0.4f, 0.05f}), (Blocks{0, 2, 3}));
  EXPECT_EQ(chosen({.threshold = 0.0f}, {0.5f, 0, std::numeric_limits<float>::quiet_NaN(), 0.5f}), (Blocks{0, 3}));
}

// Rows of `type` f32, padded.
struct Keys {
  int width, padded;
  std::vector<float> rows;

  Keys(int width_in, const std::vector<float>& values) : width(width_in), padded(padded_row(width_in)) {
    rows.assign(values.size() / width * padded, 0);
    for (size_t i = 0; i < values.size(); ++i) rows[i / width * padded + i % width] = values[i];
  }
  int count() const { return static_cast<int>(rows.size()) / padded; }
  RowsView view(int first = 0) const {
    return {rows.data() + size_t(first) * padded, padded * sizeof(float), RowType::kF32, width, nullptr};
  }
};

// Appends all keys to the reader's blocks, as the engine does.
std::vector<float> summaries_of(const Reader& reader, const Keys& keys, const ModelHeads& heads) {
  const int per_block = reader.summary_floats(heads), block = reader.block();
  std::vector<float> summaries((keys.count() + block - 1) / block * size_t(per_block), 1e30f);
  std::vector<float> scratch(reader.scratch_floats(heads, keys.count()));
  for (int t = 0; t < keys.count(); ++t) {
    const int first = t / block * block;
    reader.update({.first = first, .count = t - first + 1, .keys = keys.view(first), .scratch = scratch},
                  std::span(summaries).subspan(size_t(t / block) * per_block, per_block));
  }
  return summaries;
}

std::vector<float> scores_of(const Reader& reader, const Keys& keys, const std::vector<float>& queries,
                             const ModelHeads& heads) {
  const std::vector<float> summaries = summaries_of(reader, keys, heads);
  std::vector<float> scratch(reader.scratch_floats(heads, keys.count()));
  const int blocks = (keys.count() + reader.block() - 1) / reader.block();
  std::vector<float> out(blocks);
  reader.score({.group = static_cast<int>(queries.size()) / keys.width,
                .tokens = keys.count(),
                .blocks = blocks,
                .queries = queries.data(),
                .keys = keys.view(),
                .summaries = summaries,
                .scratch = scratch},
               out);
  return out;
}

TEST(Quest, ScoreWorkedOutByHand) {
  // Pages of two keys with two channels: page 0 spans [1, 3] x [-2, 4], page 1 [0, 0] x [5, 6], page 2 is one key.
  const Keys keys(2, {1, 4, 3, -2, 0, 5, 0, 6, -1, -1});
  const Quest quest(2, 0);
  const ModelHeads heads{.group = 1, .head_dim = 2};
  EXPECT_EQ(scores_of(quest, keys, {1, 1}, heads), (std::vector<float>{7, 6, -2}));
  EXPECT_EQ(scores_of(quest, keys, {-1, 2}, heads), (std::vector<float>{7, 12, -1}));
  EXPECT_EQ(scores_of(quest, keys, {0, -1}, heads), (std::vector<float>{2, -5, 1}));
}

TEST(Quest, ScoreBoundsEveryLogitOfThePage) {
  for (const int width : {20, 64, 80, 128}) {
    const ModelHeads heads{.group = 1, .head_dim = width};
    const Keys keys(width, normal(size_t(width) * 75, width));
    const Quest quest(16, 0);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<float> query = normal(width, 100 + seed);
      const std::vector<float> bounds = scores_of(quest, keys, query, heads);
      double tightest = 1e30;
      for (int t = 0; t < keys.count(); ++t) {
        double dot = 0;
        for (int c = 0; c < width; ++c) dot += double(query[c]) * keys.rows[size_t(t) * keys.padded + c];
        EXPECT_GE(bounds[t / 16], dot - 1e-4);
        tightest = std::min(tightest, bounds[t / 16] - dot);
      }
      EXPECT_GT(tightest, 0);
    }
  }
}

TEST(Quest, ReadsAtLeastThreePages) {
  const Quest quest(16, 2);
  EXPECT_EQ(quest.choice(1).blocks, 3);
  EXPECT_EQ(quest.choice(63).blocks, 3);
  EXPECT_EQ(quest.choice(64).blocks, 4);
  EXPECT_EQ(quest.choice(1000).blocks, 62);
  EXPECT_TRUE(quest.choice(64).last_among_them);
  EXPECT_TRUE(quest.per_query_head());
  EXPECT_EQ(quest.dense_layers(), 2);
}

TEST(OracleBlocks, ScoreIsTheLargestExactProbability) {
  const int width = 20, tokens = 37, group = 3;
  const Keys keys(width, normal(size_t(width) * tokens, 5));
  const std::vector<float> queries = normal(size_t(width) * group, 6);
  const std::vector<float> scores =
      scores_of(OracleBlocks(8), keys, queries, {.group = group, .head_dim = width});
  std::vector<double> expected(5, 0);
  for (int g = 0; g < group; ++g) {
    std::vector<double> p(tokens);
    double sum = 0;
    for (int t = 0; t < tokens; ++t) {
      double dot = 0;
      for (int c = 0; c < width; ++c) dot += double(queries[g * width + c]) * keys.rows[size_t(t) * keys.padded + c];
      sum += p[t] = std::exp(dot / std::sqrt(double(width)));
    }
    for (int t = 0; t < tokens; ++t) expected[t / 8] = std::max(expected[t / 8], p[t] / sum);
  }
  for (int b = 0; b < 5; ++b) EXPECT_NEAR(scores[b], expected[b], 1e-5) << b;
}

TEST(OracleBlocks, ReadsWhatTheBudgetHoldsAndTheLastBlock) {
  const ReadChoice choice = OracleBlocks(64).choice(200);
  EXPECT_EQ(choice.blocks, 3);
  EXPECT_FALSE(choice.last_among_them);
}

}  // namespace
}  // namespace vase
