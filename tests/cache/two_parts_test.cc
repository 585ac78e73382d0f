// A cache with quantised rows: older tokens in a part of their own, quantised once, the newest as they came.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "cache/made_up_tokens.h"
#include "support/stored_row.h"

namespace vase {
namespace {

CacheShape shape_with(RowType keys, RowType values, int capacity, int recent) {
  return {.layers = 2,
          .kv_heads = 3,
          .head_dim = kWidest,
          .sequences = 2,
          .capacity = capacity,
          .key_type = keys,
          .value_type = values,
          .recent = recent,
          .needs = {.attention = AttentionRecord::kWindowSum, .value_range = true, .norm_product = true, .log_weight = true}};
}

TEST(CacheShape, BytesOfTwoParts) {
  const CacheShape shape = shape_with(RowType::kBF16, RowType::kQ4_0, 97, 20);
  // 77 older slots take five strips of values, of which three slots are never used; keys are rows.
  const size_t heads = 2 * 2 * 3, older = 77 * 64 + 80 * 18, recent = 20 * (64 + 64);
  EXPECT_EQ(SlotCache(shape, false).bytes(), heads * (older + recent + 97 * 24));
  EXPECT_EQ(shape.unused_bytes(), heads * 3 * 18);
}

class TwoParts : public testing::TestWithParam<std::pair<RowType, RowType>> {
 protected:
  static constexpr int kCapacity = 61, kRecent = 13, kStay = 8;

  CacheShape shape() const {
    return shape_with(GetParam().first, GetParam().second, kCapacity, kRecent);
  }

  struct Token {
    int32_t position;
    float log_weight = 0;
  };

  // Older slots dense and quantised, recent ones dense, chronological and as they came; each token with its own.
  void expect_tokens(HeadSlots head, const std::vector<Token>& tokens) const {
    ASSERT_EQ(head.used(), static_cast<int>(tokens.size()));
    std::vector<int> uses(kCapacity);
    uint32_t last = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const int32_t position = tokens[i].position;
      const uint32_t slot = head.order()[i];
      const bool recent = slot >= static_cast<uint32_t>(head.recent_begin());
      ++uses[slot];
      EXPECT_EQ(head.position(slot), position);
      EXPECT_EQ(head.log_weight()[slot], tokens[i].log_weight) << "log-weight of " << position;
      const std::vector<float> key = row_of(position, 0.25f), value = row_of(position, 0.5f);
      std::vector<float> k(kWidest), v(kWidest);
      head.read_key(slot, k.data());
      head.read_value(slot, v.data());
      EXPECT_EQ(k, test::stored(kernels::StripKind::kKeys, GetParam().first, !recent, key))
          << "key of " << position;
      EXPECT_EQ(v, test::stored(kernels::StripKind::kValues, GetParam().second, !recent, value))
          << "value of " << position;
      EXPECT_FLOAT_EQ(head.value_range()[slot], 7.0f / 8);
      const double product = norm_product_of(position, head.shape().head_dim);
      EXPECT_NEAR(head.norm_product()[slot], product, 1e-5 * product);  // of the row as it came in
      if (recent) {
        EXPECT_GE(slot, last) << "not chronological";
        last = slot;
      }
    }
    for (int s = 0; s < kCapacity; ++s) {
      const bool used = s < head.recent_begin() ? s < head.older_used() : s - head.recent_begin() < head.recent_used();
      EXPECT_EQ(uses[s], used) << "slot " << s;
    }
  }
};

TEST_P(TwoParts, RandomEvictionsKeepEveryTokensOwnRow) {
  std::mt19937 rng(11);
  SlotCache cache(shape(), true);
  CompactionScratch scratch(kCapacity);
  HeadSlots head = cache.head(1, 1, 2);
  std::vector<Token> want;
  int32_t next = 0;
  for (int eviction = 0; eviction < 12; ++eviction) {
    while (head.used() < kCapacity) {
      if (head.recent_room() == 0) {
        head.settle(kStay);
        expect_tokens(head, want);
      }
      append_token(head, next);
      want.push_back({next++});
    }
    const int candidates = kCapacity - kStay;
    std::vector<uint32_t> kept(candidates);
    std::iota(kept.begin(), kept.end(), 0);
    std::shuffle(kept.begin(), kept.end(), rng);
    kept.resize(kCapacity - kRecent - rng() % 4);
    if (eviction % 3 != 0) std::ranges::sort(kept);
    std::vector<float> log_weight(candidates);
    for (float& weight : log_weight) weight = static_cast<float>(rng() % 100);
    std::vector<Token> after;
    for (const uint32_t i : kept) after.push_back({want[i].position, log_weight[i]});
    after.insert(after.end(), want.begin() + candidates, want.end());
    std::ranges::fill(head.attention(), 1.0f);
    head.apply({.kept = kept, .candidates = candidates, .log_weight = log_weight}, scratch);
    want = after;
    expect_tokens(head, want);
    for (const uint32_t slot : head.order()) EXPECT_EQ(head.attention()[slot], 0);
  }
  EXPECT_EQ(cache.head(0, 1, 2).used(), 0) << "another head was touched";
}

TEST_P(TwoParts, FreeRowsAreNaN) {
  SlotCache cache(shape(), true);
  HeadSlots head = cache.head(0, 0, 0);
  for (int p = 0; p < 30; ++p) {
    if (head.recent_room() == 0) head.settle(kStay);
    append_token(head, p);
  }
  const auto is_nan = [&](int slot) {
    std::vector<float> k(kWidest), v(kWidest);
    head.read_key(slot, k.data());
    head.read_value(slot, v.data());
    return std::isnan(k[0]) && std::isnan(k[kWidest - 1]) && std::isnan(v[0]) && std::isnan(v[kWidest - 1]);
  };
  for (int s = head.older_used(); s < head.recent_begin(); ++s) EXPECT_TRUE(is_nan(s)) << s;
  for (int s = head.recent_begin() + head.recent_used(); s < kCapacity; ++s) EXPECT_TRUE(is_nan(s)) << s;
  cache.clear(0);
  for (int s = 0; s < kCapacity; ++s) EXPECT_TRUE(is_nan(s)) << s;
}

INSTANTIATE_TEST_SUITE_P(Types, TwoParts,
                         testing::Values(std::pair(RowType::kQ8_0, RowType::kQ8_0),
                                         std::pair(RowType::kQ8_0, RowType::kQ4_0),
                                         std::pair(RowType::kF16, RowType::kQ4_0),
                                         std::pair(RowType::kQ4_0, RowType::kF32)));

}  // namespace
}  // namespace vase
