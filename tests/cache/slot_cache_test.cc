// The slot cache against an out-of-place model of itself: after any sequence of appends and evictions every kept
// token still has its own rows, order and metadata.
#include "cache/slot_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "base/store_row.h"
#include "cache/made_up_tokens.h"

namespace vase {
namespace {

constexpr int kHeadDim = 20;  // padded to 32

CacheShape shape_with(RowType type, int capacity) {
  return {.layers = 2,
          .kv_heads = 3,
          .head_dim = kHeadDim,
          .sequences = 2,
          .capacity = capacity,
          .key_type = type,
          .value_type = type,
          .needs = {.attention = AttentionRecord::kWindowSum, .value_range = true, .norm_product = true}};
}

// Byte by byte: rows move as they are.
void expect_row(const RowsView& rows, uint32_t slot, const std::vector<float>& want) {
  std::vector<std::byte> stored(row_bytes(rows.type, rows.width));
  store_row(rows.type, want.data(), rows.width, stored.data());
  EXPECT_EQ(std::memcmp(rows.row(slot), stored.data(), stored.size()), 0);
}

void expect_tokens(HeadSlots head, const std::vector<int32_t>& positions) {
  ASSERT_EQ(head.used(), static_cast<int>(positions.size()));
  std::vector<bool> seen(positions.size(), false);
  for (size_t i = 0; i < positions.size(); ++i) {
    const uint32_t slot = head.order()[i];
    ASSERT_LT(slot, positions.size()) << "slots are not dense";
    EXPECT_FALSE(seen[slot]) << "slot used twice";
    seen[slot] = true;
    EXPECT_EQ(head.position(slot), positions[i]);
    expect_row(head.recent_keys(), slot, row_of(positions[i], 0.25f));
    expect_row(head.recent_values(), slot, row_of(positions[i], 0.5f));
    EXPECT_FLOAT_EQ(head.value_range()[slot], 7.0f / 8);
    const double product = norm_product_of(positions[i], kHeadDim);
    EXPECT_NEAR(head.norm_product()[slot], product, 1e-5 * product);
  }
}

class SlotCacheTest : public testing::TestWithParam<RowType> {};

TEST_P(SlotCacheTest, RandomEvictionsKeepEveryTokensOwnRow) {
  std::mt19937 rng(7);
  for (int round = 0; round < 200; ++round) {
    const int capacity = 8 + static_cast<int>(rng() % 120);
    SlotCache cache(shape_with(GetParam(), capacity), round % 2 == 0);
    CompactionScratch scratch(capacity);
    HeadSlots head = cache.head(1, 1, 2);
    std::vector<int32_t> want;
    int32_t next = 0;
    for (int eviction = 0; eviction < 6; ++eviction) {
      while (head.used() < capacity) {
        append_token(head, next);
        want.push_back(next++);
      }
      const int candidates = static_cast<int>(rng() % (capacity + 1));
      std::vector<uint32_t> kept(candidates);
      std::iota(kept.begin(), kept.end(), 0);
      std::shuffle(kept.begin(), kept.end(), rng);
      kept.resize(candidates == 0 ? 0 : rng() % (candidates + 1));
      if (round % 3 == 0) std::ranges::sort(kept);
      std::vector<int32_t> after;
      for (uint32_t i : kept) after.push_back(want[i]);
      after.insert(after.end(), want.begin() + candidates, want.end());
      head.apply({kept, candidates}, scratch);
      want = after;
      expect_tokens(head, want);
      EXPECT_EQ(head.evictions(), eviction + 1);
    }
    EXPECT_EQ(cache.head(0, 1, 2).used(), 0) << "another head was touched";
  }
}

// Field report 40: kept sets whose source and target overlap.
TEST_P(SlotCacheTest, NamedOverlaps) {
  const int n = 96;
  const auto run = [&](const std::vector<uint32_t>& kept) {
    SlotCache cache(shape_with(GetParam(), n), true);
    CompactionScratch scratch(n);
    HeadSlots head = cache.head(0, 0, 0);
    for (int p = 0; p < n; ++p) append_token(head, p);
    head.apply({kept, n}, scratch);
    expect_tokens(head, {kept.begin(), kept.end()});
  };
  std::vector<uint32_t> all(n), drop_one, every_second, newest;
  std::iota(all.begin(), all.end(), 0);
  for (uint32_t i = 0; i < n; ++i) {
    if (i != 1) drop_one.push_back(i);
    if (i % 2 == 0) every_second.push_back(i);
    if (i >= 32) newest.push_back(i);
  }
  run(all);
  run(drop_one);
  run(every_second);
  run(newest);
  run({});
}

TEST_P(SlotCacheTest, AtMostTheEvictedNumberOfRowsMoves) {
  const int n = 64, candidates = 56;
  SlotCache cache(shape_with(GetParam(), n), false);
  CompactionScratch scratch(n);
  HeadSlots head = cache.head(0, 0, 0);
  for (int p = 0; p < n; ++p) append_token(head, p);
  std::vector<uint32_t> kept;
  for (uint32_t i = 0; i < candidates; ++i) {
    if (i % 7 != 3) kept.push_back(i);  // 8 dropped
  }
  head.apply({kept, candidates}, scratch);
  int in_place = 0;
  for (uint32_t slot : head.order()) in_place += head.position(slot) == static_cast<int32_t>(slot);
  EXPECT_EQ(in_place, candidates - 8);
}

TEST_P(SlotCacheTest, FreeRowsArePoisonedAndMassIsCleared) {
  const int n = 32;
  SlotCache cache(shape_with(GetParam(), n), true);
  CompactionScratch scratch(n);
  HeadSlots head = cache.head(0, 0, 0);
  for (int p = 0; p < n; ++p) append_token(head, p);
  std::ranges::fill(head.attention(), 1.0f);
  head.apply({std::vector<uint32_t>{0, 5, 9}, 24}, scratch);
  float row[kWidest];
  for (int slot = head.used(); slot < n; ++slot) {
    read_row(head.recent_keys(), slot, row);
    EXPECT_TRUE(std::isnan(row[0]));
    read_row(head.recent_values(), slot, row);
    EXPECT_TRUE(std::isnan(row[cache.shape().head_dim - 1]));
  }
  for (float mass : head.attention()) EXPECT_EQ(mass, 0);
  cache.clear(0);
  EXPECT_EQ(head.used(), 0);
  read_row(head.recent_keys(), 0, row);
  EXPECT_TRUE(std::isnan(row[0]));
}

INSTANTIATE_TEST_SUITE_P(RowTypes, SlotCacheTest, testing::Values(RowType::kF32, RowType::kF16, RowType::kBF16));

// Records that go with their token, and what a plan makes of the log-weights.
TEST(SlotCacheRecords, GoWithTheirToken) {
  std::mt19937 rng(3);
  for (const AttentionRecord record : {AttentionRecord::kLifetimeSum, AttentionRecord::kRecurrence}) {
    CacheShape shape = shape_with(RowType::kF16, 60);
    shape.needs = {.attention = record, .log_weight = true};
    SlotCache cache(shape, true);
    CompactionScratch scratch(60);
    HeadSlots head = cache.head(1, 0, 1);
    std::vector<float> weight_of(1000, 0.0f);
    int32_t next = 0;
    for (int eviction = 0; eviction < 12; ++eviction) {
      for (; head.used() < 60; ++next) {
        append_token(head, next);
        const uint32_t slot = head.order().back();
        EXPECT_EQ(head.log_weight()[slot], 0);
        if (record == AttentionRecord::kLifetimeSum) {
          EXPECT_EQ(head.attention()[slot], 0);
          head.attention()[slot] = static_cast<float>(next) / 4;
        } else {
          EXPECT_EQ(head.last_use()[slot], next);
          EXPECT_EQ(head.longest_gap()[slot], 0);
          head.last_use()[slot] = 3 * next;
          head.longest_gap()[slot] = 5 * next;
        }
      }
      const int candidates = 50;
      std::vector<uint32_t> kept;
      std::vector<float> log_weight(candidates);
      for (uint32_t i = 0; i < candidates; ++i) {
        log_weight[i] = static_cast<float>(rng() % 100);
        if (rng() % 3 == 0) continue;
        kept.push_back(i);
        if (eviction != 5) weight_of[head.position(head.order()[i])] = log_weight[i];
      }
      if (eviction == 5) log_weight.clear();  // as before
      head.apply({kept, candidates, INT_MAX, log_weight}, scratch);
      for (uint32_t slot : head.order()) {
        const int32_t position = head.position(slot);
        EXPECT_EQ(head.log_weight()[slot], weight_of[position]);
        if (record == AttentionRecord::kLifetimeSum) {
          EXPECT_EQ(head.attention()[slot], static_cast<float>(position) / 4);
        } else {
          EXPECT_EQ(head.last_use()[slot], 3 * position);
          EXPECT_EQ(head.longest_gap()[slot], 5 * position);
        }
      }
    }
  }
}

// M = 40, R = 16, a period of 5: the 29 candidates of the next eviction stand in the first 29 slots.
TEST(SlotCacheCompaction, NextCandidatesComeFirst) {
  std::mt19937 rng(5);
  const int keep = 24, candidates = 29, capacity = 45;
  SlotCache cache(shape_with(RowType::kF16, capacity), true);
  CompactionScratch scratch(capacity);
  HeadSlots head = cache.head(0, 1, 2);
  std::vector<int32_t> want;
  for (int32_t next = 0, eviction = 0; eviction < 40; ++eviction) {
    for (; head.used() < capacity; ++next) {
      append_token(head, next);
      want.push_back(next);
    }
    std::vector<uint32_t> kept(candidates);
    std::iota(kept.begin(), kept.end(), 0);
    std::shuffle(kept.begin(), kept.end(), rng);
    kept.resize(keep);
    std::ranges::sort(kept);
    std::vector<int32_t> after;
    for (uint32_t i : kept) after.push_back(want[i]);
    after.insert(after.end(), want.begin() + candidates, want.end());
    want = after;
    head.apply({kept, candidates, candidates}, scratch);
    expect_tokens(head, want);
    for (int i = 0; i < head.used(); ++i) {
      EXPECT_EQ(head.order()[i] < static_cast<uint32_t>(candidates), i < candidates) << "logical index " << i;
    }
  }
}

TEST(SlotCacheQueries, TheRingHoldsTheNewest) {
  CacheShape shape = shape_with(RowType::kF16, 30);
  shape.group = 3;
  shape.needs = {.queries = 5};
  SlotCache cache(shape, false);
  HeadSlots head = cache.head(1, 1, 0), other = cache.head(1, 1, 1);
  for (int32_t p = 0; p < 23; ++p) {
    std::vector<float> q(3 * kHeadDim);
    for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>(p * 1000 + i);
    head.push_queries(p, q.data());
    const QueriesView view = head.queries(p + 1);
    ASSERT_EQ(view.count, std::min(p + 1, 5));
    for (int w = 0; w < view.count; ++w) {
      for (int g = 0; g < 3; ++g) {
        ASSERT_EQ(view.row(w, g).size(), size_t{kHeadDim});
        EXPECT_EQ(view.row(w, g)[7], static_cast<float>((p + 1 - view.count + w) * 1000 + g * kHeadDim + 7));
      }
    }
  }
  EXPECT_EQ(other.queries(1).row(0, 0)[0], 0) << "another head was touched";
}

// Heads of layers of different capacity, all full at the same time, do not touch one another.
TEST(CacheShape, LayersMayDiffer) {
  CacheShape shape = shape_with(RowType::kF16, 9);
  shape.layer_capacity = {9, 4};
  SlotCache cache(shape, true);
  EXPECT_EQ(cache.bytes(), 2 * 3 * (9 + 4) * (32 * 2 + 32 * 2 + shape.metadata()));
  std::vector<std::vector<int32_t>> want;
  for (int i = 0; i < 12; ++i) {
    want.emplace_back();
    for (int s = 0; s < shape.capacity_of(i / 6); ++s) {
      want.back().push_back(i * 5 + s);
      append_token(cache.head(i / 6, i / 3 % 2, i % 3), i * 5 + s);
    }
    EXPECT_EQ(cache.head(i / 6, i / 3 % 2, i % 3).value_range().size(), want.back().size());
    EXPECT_EQ(cache.head(i / 6, i / 3 % 2, i % 3).norm_product().size(), want.back().size());
  }
  for (int i = 0; i < 12; ++i) expect_tokens(cache.head(i / 6, i / 3 % 2, i % 3), want[i]);
  cache.clear(1);
  for (int i = 0; i < 12; ++i) {
    if (i / 3 % 2 == 0) expect_tokens(cache.head(i / 6, 0, i % 3), want[i]);
    else EXPECT_EQ(cache.head(i / 6, 1, i % 3).used(), 0);
  }
}

TEST(CacheShape, BytesAreTheFormula) {
  const auto bytes = [](const PolicyNeeds& needs) {
    CacheShape shape = shape_with(RowType::kF16, 96);
    shape.group = 4;
    shape.needs = needs;
    return SlotCache(shape, false).bytes();
  };
  const size_t heads = 2 * 2 * 3, rows = 32 * 2 + 32 * 2;
  EXPECT_EQ(bytes({}), heads * 96 * (rows + 8));
  EXPECT_EQ(bytes({.attention = AttentionRecord::kWindowSum, .value_range = true}), heads * 96 * (rows + 16));
  EXPECT_EQ(bytes({.attention = AttentionRecord::kRecurrence, .log_weight = true}), heads * 96 * (rows + 20));
  EXPECT_EQ(bytes({.norm_product = true}), heads * 96 * (rows + 12));
  EXPECT_EQ(bytes({.queries = 8}), heads * (96 * (rows + 8) + 8 * 4 * kHeadDim * 4));
}

}  // namespace
}  // namespace vase
