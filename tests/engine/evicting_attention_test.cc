// The attention step with eviction, without a model: counts, positions, equality over chunks, threads and batches,
// the mass against stored queries, and the trigger rules.
#include "engine/evicting_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/cosine.h"
#include "engine/attention_driver.h"
#include "engine/row_settings.h"
#include "kernels/window_scores/window_scores.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;
using test::row_settings;
using test::RowSetting;

// Every record of attention, stored queries and log-weights are among what they need.
const char* const kPolicies[] = {"vase",          "vase-attnv",          "vase-dkv",      "curdkv",
                                 "snapkv",        "random",              "random-prompt", "snapkv-prompt",
                                 "h2o",           "lazy-eviction",       "r-kv-original", "score=attention:form=max",
                                 "snapkv-decode", "vase-attnv-weighted", "tova share=head"};

CacheOptions budget(int m, int r) { return {.budget = m, .buffer = r}; }

// Feeds `total` tokens in chunks of `chunk`; returns the outputs of the last layer, token after token.
std::vector<float> feed(Driver& driver, Sequence& s, int total, int chunk) {
  std::vector<float> all;
  while (s.seen < total) {
    const int n = std::min<int>(chunk, total - static_cast<int>(s.seen));
    const auto out = driver.step({&s}, {n})[0];
    all.insert(all.end(), out.begin(), out.end());
  }
  return all;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double(a[i]) - b[i]));
  return largest;
}

// Field report 36: K = 96, B = 32, 300 tokens.
TEST(EvictingAttention, CountersAndPositions) {
  Driver driver(FakeModel{}, "vase-attnv", budget(96, 32), {.threads = 1});
  Sequence s = driver.start(0, 0, 1);
  feed(driver, s, 300, 1);
  EXPECT_EQ(s.seen, 300);
  EXPECT_EQ(s.used, 108);
  EXPECT_EQ(s.evictions, 6);
  for (int layer = 0; layer < 2; ++layer) {
    const int used = layer == 0 ? 108 : 124;  // the last evictions came with tokens 288 and 272
    for (int h = 0; h < 2; ++h) {
      EXPECT_EQ(driver.head(layer, 0, h).used(), used);
      EXPECT_EQ(driver.head(layer, 0, h).evictions(), 6);
      const auto kept = driver.kept(layer, 0, h);
      EXPECT_TRUE(std::ranges::is_sorted(kept));
      EXPECT_EQ(kept.back(), 299);
      for (int i = 0; i < 4; ++i) EXPECT_EQ(kept[i], i) << "a sink was lost";
      for (int i = 64; i < used; ++i) EXPECT_EQ(kept[i], 300 - used + i) << "the newest were lost";
    }
  }
}

TEST(EvictingAttention, HeldSlotsFollowTheFormula) {
  for (const bool stagger : {true, false}) {
    for (const auto [m, r] : {std::pair{96, 32}, {100, 48}, {64, 1}, {37, 7}}) {
      CacheOptions cache = budget(m, r);
      cache.stagger = stagger;
      Driver driver(FakeModel{}, "random", cache, {.threads = 1});
      const int second = m + r + (stagger ? r - r / 2 : r);  // eviction of the second layer
      Sequence s = driver.start(0, 0, 1);
      for (int t = 1; t <= 400; ++t) {
        driver.step({&s}, {1});
        EXPECT_EQ(s.used, t < m + r ? t : m + (t - m) % r);
        EXPECT_EQ(s.evictions, t < m + r ? 0 : 1 + (t - m - r) / r);
        ASSERT_EQ(driver.head(0, 0, 1).used(), s.used);
        ASSERT_EQ(driver.head(1, 0, 1).used(), t < m + r ? t : t < second ? t - r : m + (t - second) % r);
        ASSERT_EQ(driver.head(1, 0, 1).evictions(), t < m + r ? 0 : t < second ? 1 : 2 + (t - second) / r);
      }
    }
  }
}

// Field report 38 and acceptance test 10: any split of the tokens gives the same cache and outputs.
TEST(EvictingAttention, ChunksEqualTokenByToken) {
  for (const RowSetting& rows : row_settings(kPolicies)) {
    SCOPED_TRACE(rows.describe());
    const CacheOptions cache = rows.with_types(budget(48, 16));
    Driver one(FakeModel{}, rows.policy, cache, {.threads = 1, .chunk = 256});
    Sequence a = one.start(0, 0, 20);
    const auto want = feed(one, a, 300, 1);
    for (int chunk : {2, 7, 16, 63, 256}) {
      Driver many(FakeModel{}, rows.policy, cache, {.threads = 2, .chunk = 256});
      Sequence b = many.start(0, 0, 20);
      const auto got = feed(many, b, 300, chunk);
      EXPECT_LT(largest_difference(want, got), 2e-5) << "chunk " << chunk;
      for (int layer = 0; layer < 2; ++layer) {
        for (int h = 0; h < 2; ++h) {
          EXPECT_EQ(one.kept(layer, 0, h), many.kept(layer, 0, h)) << "chunk " << chunk;
        }
      }
      EXPECT_EQ(a.used, b.used);
      EXPECT_EQ(a.evictions, b.evictions);
    }
  }
}

// Acceptance test 2: without smoothing, the order in which slots are gathered changes neither what is kept nor what
// attention gives.
TEST(EvictingAttention, GatherOrderChangesNothingWithoutSmoothing) {
  for (const std::string policy :
       {"protect=sinks:4,value:25% score=attention:smooth=off select=sample", "vase-dkv", "h2o", "score=recurrence",
        "protect=prompt score=key-diff", "score=attention:form=rms,smooth=off select=sample:floor=0.1,weights=on"}) {
    CacheOptions cache = budget(48, 16);
    cache.key_type = cache.value_type = RowType::kF32;
    Driver by_position(FakeModel{}, policy, cache, {.threads = 1});
    Driver by_score(FakeModel{}, policy + " order=score", cache, {.threads = 1});
    Sequence a = by_position.start(0, 0, 10), b = by_score.start(0, 0, 10);
    EXPECT_LT(largest_difference(feed(by_position, a, 300, 1), feed(by_score, b, 300, 1)), 1e-5) << policy;
    for (int h = 0; h < 2; ++h) {
      auto kept = by_score.kept(1, 0, h);
      std::ranges::sort(kept);
      EXPECT_EQ(kept, by_position.kept(1, 0, h)) << policy;
    }
  }
}

TEST(EvictingAttention, FusedEqualsReference) {
  for (RowSetting rows : row_settings(kPolicies)) {
    if (rows.keys == RowType::kF16) rows.keys = rows.values = RowType::kF32;
    SCOPED_TRACE(rows.describe());
    const CacheOptions cache = rows.with_types(budget(48, 16));
    Driver fused(FakeModel{}, rows.policy, cache, {.threads = 1});
    Driver plain(FakeModel{}, rows.policy, cache, {.threads = 1, .path = AttentionPath::kReference});
    Sequence a = fused.start(0, 0, 10), b = plain.start(0, 0, 10);
    EXPECT_LT(largest_difference(feed(fused, a, 200, 1), feed(plain, b, 200, 1)), 1e-5);
    EXPECT_EQ(fused.kept(1, 0, 1), plain.kept(1, 0, 1));
  }
}

// With nothing evicted every policy is the full cache, bit for bit (invariant I1).
TEST(EvictingAttention, NoEvictionIsTheFullCache) {
  Driver full(FakeModel{}, "full", {.context = 500}, {.threads = 1});
  Sequence f = full.start(0, 0, 10);
  const auto want = feed(full, f, 160, 1);
  for (const char* policy : kPolicies) {
    Driver driver(FakeModel{}, policy, budget(150, 32), {.threads = 1});
    Sequence s = driver.start(0, 0, 10);
    EXPECT_EQ(feed(driver, s, 160, 1), want) << policy;
    EXPECT_EQ(s.evictions, 0);
  }
}

// Field report 9: poisoned free rows change nothing, over evictions and in a batch of unequal lengths.
TEST(EvictingAttention, FreeRowsAreNeverRead) {
  for (const RowSetting& rows : row_settings(kPolicies)) {
    SCOPED_TRACE(rows.describe());
    const CacheOptions cache = rows.with_types(budget(48, 16));
    std::vector<std::vector<std::vector<float>>> outputs[2];
    for (const bool poison : {false, true}) {
      Driver driver(FakeModel{}, rows.policy, cache, {.sequences = 4, .threads = 2, .poison_free_rows = poison});
      std::vector<Sequence> s;
      for (int i = 0; i < 4; ++i) s.push_back(driver.start(i, i, 4));
      driver.step({&s[0], &s[1], &s[2], &s[3]}, {32, 64, 96, 48});
      for (int t = 0; t < 60; ++t) {
        outputs[poison].push_back(driver.step({&s[0], &s[1], &s[2], &s[3]}, {1, 1, 1, 1}));
      }
    }
    EXPECT_EQ(outputs[0], outputs[1]);
  }
}

// A sequence does not depend on its neighbours, on the number of threads, or on its place in the cache.
TEST(EvictingAttention, AloneOrInABatchBitForBit) {
  for (const RowSetting& rows : row_settings(kPolicies)) {
    SCOPED_TRACE(rows.describe());
    const CacheOptions cache = rows.with_types(budget(48, 16));
    Driver alone(FakeModel{}, rows.policy, cache, {.threads = 1});
    Sequence a = alone.start(0, 7, 20, 99);
    std::vector<std::vector<float>> want;
    alone.step({&a}, {20});
    for (int t = 0; t < 150; ++t) want.push_back(alone.step({&a}, {1})[0]);

    Driver batch(FakeModel{}, rows.policy, cache, {.sequences = 5, .threads = 3});
    Sequence b = batch.start(3, 7, 20, 99);
    batch.step({&b}, {20});
    std::vector<Sequence> others;
    for (int i = 0; i < 3; ++i) others.push_back(batch.start(i, 40 + i, 5));
    for (int t = 0; t < 150; ++t) {  // neighbours join, read prompts, and leave
      std::vector<Sequence*> members{&b};
      std::vector<int> counts{1};
      for (int i = 0; i < 3; ++i) {
        if ((t / (10 + 7 * i)) % 2 == 0) {
          members.insert(members.begin(), &others[i]);
          counts.insert(counts.begin(), t % 9 == i ? 11 : 1);
        }
      }
      const auto out = batch.step(members, counts);
      ASSERT_EQ(out[members.size() - 1], want[t]) << "step " << t;
    }
    EXPECT_EQ(alone.kept(1, 0, 0), batch.kept(1, 3, 0));
  }
}

// Few heads over many threads share slots: every piece of every head is used, and not a bit changes. 1,000 slots are
// four segments, the last one short.
TEST(EvictingAttention, SplitBySlotsBitForBit) {
  for (const int kv_heads : {1, 3}) {
    FakeModel fake;
    fake.shape.kv_heads = kv_heads;
    fake.shape.query_heads = 2 * kv_heads;
    for (const AttentionPath path : {AttentionPath::kFused, AttentionPath::kReference}) {
      std::vector<std::vector<float>> want;
      std::vector<int32_t> want_kept;
      for (const int threads : {1, 2, 3, 5}) {
        Driver driver(fake, "vase-attnv", budget(960, 40), {.sequences = 2, .threads = threads, .path = path});
        Sequence a = driver.start(0, 0, 10), b = driver.start(1, 1, 10);
        driver.step({&a, &b}, {985, 700});
        std::vector<std::vector<float>> got;
        for (int t = 0; t < 20; ++t) {  // over an eviction of the first
          got.push_back(driver.step({&a}, {1})[0]);
          if (t % 4 == 0) got.push_back(driver.step({&a, &b}, {1, 1})[1]);
        }
        EXPECT_GT(a.evictions, 0);
        if (want.empty()) want = got, want_kept = driver.kept(1, 0, kv_heads - 1);
        EXPECT_EQ(got, want) << kv_heads << " heads, " << threads << " threads";
        EXPECT_EQ(driver.kept(1, 0, kv_heads - 1), want_kept);
      }
    }
  }
}

// The mass that decode adds up is the window score of stored queries (docs/policies.md 3.1).
TEST(EvictingAttention, MassIsTheWindowScore) {
  const int m = 40, r = 16, d = 32, group = 2;
  CacheOptions cache = budget(m, r);
  cache.key_type = cache.value_type = RowType::kF32;
  Driver driver(FakeModel{}, "vase-attnv", cache, {.threads = 1});
  Sequence s = driver.start(0, 0, 1);
  feed(driver, s, m + r + 2 * r - 1, 1);  // one token before the third eviction
  for (int kv_head = 0; kv_head < 2; ++kv_head) {
    HeadSlots head = driver.head(0, 0, kv_head);
    ASSERT_EQ(head.used(), m + r - 1);
    std::vector<float> queries;
    for (int64_t p = s.seen - (r - 1); p < s.seen; ++p) {
      const auto q = driver.fake().row(0, p, 0, 0, 4 * d);
      queries.insert(queries.end(), q.begin() + kv_head * group * d, q.begin() + (kv_head + 1) * group * d);
    }
    RowsView keys = head.recent_keys();  // the first m slots are the candidates
    std::vector<float> want(m);
    kernels::window_scores(queries, (r - 1) * group, keys, 1 / std::sqrt(float(d)), 1, want);
    double sum = 0;
    for (int slot = 0; slot < m; ++slot) {
      EXPECT_NEAR(head.attention()[slot], want[slot], 1e-5 * want[slot] + 1e-6);
      sum += head.attention()[slot];
    }
    EXPECT_NEAR(sum, (r - 1) * group, 1e-3);
  }
}

// Acceptance test 9 with dense prefill: the occupancy follows the authors' rule, and no slot beyond capacity is used.
TEST(EvictingAttention, ParityTriggerAfterDensePrefill) {
  const int m = 64, r = 16;
  for (int p : {1, 15, 16, m - 1, m, m + 1, m + r - 1, m + r, 3 * m}) {
    CacheOptions cache = budget(m, r);
    cache.prefill = Prefill::kDense;
    cache.max_prompt = p;
    cache.trigger = Trigger::kParity;
    Driver driver(FakeModel{}, "snapkv", cache, {.threads = 1, .chunk = 256});
    Sequence s = driver.start(0, 0, p);
    driver.step({&s}, {p});
    int n = p;
    EXPECT_EQ(s.used, n);
    for (int t = 0; t < 4 * r; ++t) {
      driver.step({&s}, {1});
      ++n;
      ASSERT_LE(n, driver.plan().cache.capacity);
      if (n > m && n % r == 0) n = m;
      ASSERT_EQ(s.used, n) << "P = " << p << " step " << t;
      ASSERT_EQ(driver.head(0, 0, 0).used(), n);
    }
  }
}

TEST(EvictingAttention, DensePrefillShrinksAtTheFirstEviction) {
  CacheOptions cache = budget(64, 16);
  cache.prefill = Prefill::kDense;
  cache.max_prompt = 300;
  Driver driver(FakeModel{}, "vase-attnv", cache, {.threads = 1, .chunk = 64});
  Sequence s = driver.start(0, 0, 300);
  feed(driver, s, 300, 64);
  EXPECT_EQ(s.used, 300);
  driver.step({&s}, {1});
  EXPECT_EQ(s.used, 64);
}

// Field report 22: a prompt far above the budget, in chunks: bounded rows, one set of sinks.
TEST(EvictingAttention, LongPromptStaysWithinCapacity) {
  Driver driver(FakeModel{}, "vase-attnv", budget(64, 32), {.threads = 1, .chunk = 128});
  Sequence s = driver.start(0, 0, 1000);
  while (s.seen < 1000) {
    driver.step({&s}, {std::min<int>(128, 1000 - static_cast<int>(s.seen))});
    EXPECT_LE(s.used, 96);
    EXPECT_LE(driver.head(0, 0, 0).used(), driver.plan().cache.capacity);
    const auto kept = driver.kept(0, 0, 1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(kept[i], i);
  }
  EXPECT_EQ(driver.plan().cache.capacity, 96);
}

// Field report 45: prompts of 5, 130 and 400 tokens in one batch.
TEST(EvictingAttention, UnequalLengthsInOneStep) {
  Driver driver(FakeModel{}, "random", budget(64, 32), {.sequences = 3, .threads = 2, .chunk = 600});
  std::vector<Sequence> s;
  for (int i = 0; i < 3; ++i) s.push_back(driver.start(i, i, 5));
  driver.step({&s[0], &s[1], &s[2]}, {5, 130, 400});
  EXPECT_EQ(s[0].used, 5);
  EXPECT_EQ(s[1].used, 66);
  EXPECT_EQ(s[2].used, 80);
  EXPECT_EQ(s[0].evictions, 0);
  EXPECT_EQ(s[1].evictions, 2);
  EXPECT_EQ(s[2].evictions, 10);
}

// Field report 42: a recency rule keeps the newest rows.
TEST(EvictingAttention, KeepsTheNewest) {
  Driver driver(FakeModel{}, "protect=none score=uniform select=top", budget(8, 7), {.threads = 1});
  Sequence s = driver.start(0, 0, 1);
  feed(driver, s, 29, 1);  // evictions at 15, 22 and 29
  EXPECT_EQ(s.used, 8);
  const auto kept = driver.kept(0, 0, 0);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(kept[1 + i], 22 + i);
}

// Field report 71: a protected prompt is in every kept set.
TEST(EvictingAttention, ProtectedPromptStays) {
  Driver driver(FakeModel{}, "vase-attnv protect+=prompt", budget(256, 32), {.threads = 1});
  Sequence s = driver.start(0, 0, 150);
  feed(driver, s, 150, 150);
  for (int t = 0; t < 1500; ++t) driver.step({&s}, {1});
  for (int h = 0; h < 2; ++h) {
    const auto kept = driver.kept(1, 0, h);
    for (int i = 0; i < 150; ++i) ASSERT_EQ(kept[i], i);
  }
}

TEST(EvictingAttention, LogsEveryEviction) {
  Driver driver(FakeModel{}, "vase-dkv", budget(48, 16), {.threads = 2, .log_evictions = true});
  Sequence s = driver.start(0, 0, 1);
  driver.step({&s}, {100});
  const auto log = driver.attention().take_log();
  ASSERT_EQ(log.size(), 3u * 2 * 2);
  EXPECT_EQ(log.front().record.eviction, 0);
  const int seen[2][3] = {{64, 80, 96}, {64, 72, 88}};
  for (const auto& [sequence, record] : log) {
    EXPECT_EQ(record.seen, seen[record.layer][record.eviction]);
    EXPECT_EQ(record.candidates, record.layer == 1 && record.eviction == 1 ? 40 : 48);
    EXPECT_EQ(record.kept.size(), 48u);
    EXPECT_EQ(record.kept.back(), record.seen - 1);
  }
  EXPECT_TRUE(driver.attention().take_log().empty());
}

// Rows of 4 bits: what is compared are the stored values, decoded.
TEST(EvictingAttention, LogsHowAlikeTheKeptValuesAre) {
  const FakeModel fake;
  const int width = fake.shape.head_dim;
  for (const RowType type : {RowType::kF16, RowType::kQ4_0}) {
    CacheOptions cache = budget(24, 16);
    cache.key_type = cache.value_type = type;
    Driver driver(fake, "random", cache, {.threads = 1, .log_evictions = true});
    Sequence s = driver.start(0, 0, 1);
    driver.step({&s}, {100});
    for (const auto& [sequence, record] : driver.attention().take_log()) {
      std::vector<float> values;
      for (size_t i = 0; i + record.buffer < record.kept.size(); ++i) {
        const auto row = fake.row(0, record.kept[i], record.layer, 2, fake.shape.kv_heads * width);
        values.insert(values.end(), row.begin() + record.kv_head * width, row.begin() + (record.kv_head + 1) * width);
      }
      ASSERT_EQ(values.size(), 8u * width);
      EXPECT_NEAR(*record.value_similarity, *mean_abs_cosine(values, width), type == RowType::kF16 ? 1e-3 : 0.03);
    }
  }
}

}  // namespace
}  // namespace vase
