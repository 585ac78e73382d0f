// Attention on held tokens, on texts of four tokens worked out by hand.
#include "eval/held_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "vase/error.h"

namespace vase::eval {
namespace {

using Cells = std::vector<std::vector<EvictionRecord>>;

constexpr float kWeights[] = {1, 2, 3, 4};  // what a query of 1 attends to is in these proportions

// Heads of one channel: the first query head of a group asks 1, the others 0, so those attend evenly.
TextAttention text_of(int group, int kv_heads = 1) {
  TextAttention text = TextAttention::sized(group * kv_heads, kv_heads, 1, 4);
  for (int t = 0; t < 4; ++t) {
    std::vector<float> queries(group * kv_heads), keys(kv_heads, std::log(kWeights[t]));
    for (int h = 0; h < kv_heads; ++h) queries[h * group] = 1;
    text.put(t, queries, keys);
  }
  return text;
}

EvictionRecord record(int64_t seen, std::vector<int32_t> kept, int layer = 0, int kv_head = 0) {
  return {.layer = layer, .kv_head = kv_head, .seen = seen, .candidates = 2, .buffer = 1, .kept = std::move(kept)};
}

void expect_share(const HeldShare& share, double attention, double best, double tokens) {
  EXPECT_NEAR(share.attention, attention, 1e-6);
  EXPECT_NEAR(share.best, best, 1e-6);
  EXPECT_NEAR(share.tokens, tokens, 1e-12);
}

TEST(TextAttention, KeysAreTurnedSoThatAChannelLiesTogether) {
  TextAttention text = TextAttention::sized(2, 2, 2, 3);
  text.put(1, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, std::vector<float>{11, 12, 13, 14, 21, 22, 23, 24});
  EXPECT_EQ(text.queries, (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(text.keys, (std::vector<float>{0, 11, 21, 0, 12, 22, 0, 13, 23, 0, 14, 24}));
}

TEST(HeldStudy, OneHeadByHand) {
  HeldStudy study(1, 1);
  study.add(0, text_of(1), Cells{{record(3, {0, 2})}});
  expect_share(study.layer(0, 0), 0.8, 0.9, 0.75);  // the token at 3 finds 0, 2 and itself: 1 + 3 + 4 of 10
  expect_share(study.all(0), 0.8, 0.9, 0.75);
}

TEST(HeldStudy, QueriesOfAGroupCountAlike) {
  HeldStudy study(1, 1);
  study.add(0, text_of(2), Cells{{record(3, {0, 2})}});
  expect_share(study.layer(0, 0), (0.8 + 0.75) / 2, 0.225 + 0.275 + 0.325, 0.75);
}

// From position 2 on, since the other cell has evicted there: 1 and 0.8.
TEST(HeldStudy, CellsAreAboutTheSamePositions) {
  HeldStudy study(1, 3);
  study.add(0, text_of(1), Cells{{record(2, {1}), record(3, {2})}, {record(3, {0, 2})}, {}});
  expect_share(study.layer(0, 0), (5.0 / 6 + 0.7) / 2, (5.0 / 6 + 0.7) / 2, (2.0 / 3 + 0.5) / 2);
  expect_share(study.layer(1, 0), (1 + 0.8) / 2, (1 + 0.9) / 2, (1 + 0.75) / 2);
  expect_share(study.layer(2, 0), 1, 1, 1);
}

TEST(HeldStudy, HeadsAndLayersKeepTheirOwn) {
  HeldStudy study(2, 1);
  const Cells all = {{record(3, {0, 2}), record(3, {1, 2}, 0, 1), record(3, {0, 1}, 1, 0)}};
  study.add(0, text_of(1, 2), all);
  study.add(1, text_of(1, 2), all);
  expect_share(study.layer(0, 0), (0.8 + 0.9) / 2, 0.9, 0.75);
  expect_share(study.layer(0, 1), (0.7 + 1) / 2, (0.9 + 1) / 2, (0.75 + 1) / 2);  // head 1 has evicted nothing there
  expect_share(study.all(0), (0.85 + 0.85) / 2, (0.9 + 0.95) / 2, (0.75 + 0.875) / 2);
}

TEST(HeldStudy, CountsNothingWithoutAnEvictionAndRefusesForeignOnes) {
  HeldStudy study(1, 1);
  study.add(0, text_of(1), Cells{{}});
  expect_share(study.all(0), 0, 0, 0);
  EXPECT_THROW(study.add(0, text_of(1), Cells{{record(5, {0, 4})}}), Error);
  EXPECT_THROW(study.add(0, text_of(1), Cells{{record(3, {0, 3})}}), Error);
  EXPECT_THROW(study.add(0, text_of(1), Cells{{record(3, {-1, 2})}}), Error);
}

}  // namespace
}  // namespace vase::eval
