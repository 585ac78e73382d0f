// Heads that share what they keep: the mean of their scores decides, at the end of a step, whatever the chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/attention_driver.h"
#include "engine/engine_helpers.h"
#include "engine/probe_policy.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;
using test::probe_policy;
using test::ProbeLog;

const CacheOptions kCache{.budget = 24, .buffer = 8, .period = 5};

FakeModel three_layers() {
  FakeModel fake;
  fake.shape.layers = 3;
  return fake;
}

// Positions of the K highest means of the scores, ascending, and the buffer.
std::vector<int32_t> best_by_mean(const std::vector<test::SeenHead>& heads) {
  const size_t candidates = heads[0].positions.size();
  std::vector<float> mean(candidates);
  for (const auto& head : heads) {
    EXPECT_EQ(head.positions, heads[0].positions);
    for (size_t c = 0; c < candidates; ++c) mean[c] += head.scores[c];
  }
  std::vector<uint32_t> order(candidates);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return mean[a] > mean[b]; });
  std::vector<int32_t> kept;
  for (int i = 0; i < kCache.budget - kCache.buffer; ++i) kept.push_back(heads[0].positions[order[i]]);
  for (int i = 0; i < kCache.buffer; ++i) kept.push_back(static_cast<int32_t>(heads[0].seen) - 1 - i);
  std::ranges::sort(kept);
  return kept;
}

TEST(Share, TheMeanOfTheScoresDecides) {
  for (const Share share : {Share::kLayer, Share::kModel}) {
    const auto log = std::make_shared<ProbeLog>();
    Driver driver(three_layers(), probe_policy({.attention = AttentionRecord::kWindowSum}, log, share), kCache,
                  {.threads = 2, .log_evictions = true});
    Sequence s = driver.start(0, 0, 1);
    int evictions = 0;
    for (int t = 0; t < 90; ++t) {
      driver.step({&s}, {1});
      for (const auto& [sequence, record] : driver.attention().take_log()) {
        ++evictions;
        std::vector<test::SeenHead> heads;
        if (share == Share::kLayer) {
          for (int h = 0; h < 2; ++h) heads.push_back(log->heads.at({record.layer, h, s.seen}));
        } else {
          for (int layer = 0; layer < 3; ++layer) heads.push_back(log->heads.at({layer, record.kv_head, s.seen}));
        }
        EXPECT_EQ(record.kept, best_by_mean(heads));
      }
    }
    EXPECT_EQ(evictions, (1 + (90 - 29) / 5) * 3 * 2);
    EXPECT_NE(driver.kept(0, 0, 0), share == Share::kLayer ? driver.kept(1, 0, 0) : driver.kept(0, 0, 1));
  }
}

class ThrowingScorer final : public Scorer {
 public:
  void score(const HeadView&, RandomDraws&, PolicyScratch&, std::span<float>) const override {
    throw Error(ErrorCode::kUsage, "no score today");
  }
  std::string text() const override { return "throwing"; }
};

TEST(Share, APartThatThrowsKeepsTheNewest) {
  for (const Share share : {Share::kHead, Share::kLayer, Share::kModel}) {
    Policy policy({}, std::make_shared<ThrowingScorer>(), std::make_shared<test::ProbeSelector>(false));
    policy.share = share;
    Driver driver(three_layers(), policy, kCache, {.threads = 2});
    Sequence s = driver.start(0, 0, 1);
    driver.step({&s}, {29});
    EXPECT_THROW(driver.attention().rethrow_error(), Error);
    std::vector<int32_t> newest(24);
    std::iota(newest.begin(), newest.end(), 5);
    for (int layer = 0; layer < 3; ++layer) {
      for (int h = 0; h < 2; ++h) EXPECT_EQ(driver.kept(layer, 0, h), newest);
    }
    driver.step({&s}, {1});
    driver.attention().rethrow_error();  // nothing new
  }
}

// The engine cuts its steps: prompts in chunks of any size, forced text, neighbours that evict at other times.
TEST(Share, EngineStepsEndAtEvictions) {
  const test::TinyModel file{test::TinyOptions{.query_heads = 6, .kv_heads = 3, .head_dim = 32}};
  const auto model = Model::load(file.path());
  for (const Share share : {Share::kLayer, Share::kModel}) {
    Policy policy = Policy::parse("snapkv");
    policy.share = share;
    const CacheOptions cache{.budget = 48, .buffer = 16, .period = 7};
    std::vector<int32_t> want;
    std::vector<std::vector<int32_t>> want_kept;
    for (const auto& [chunk, sequences] : {std::pair{1, 1}, {24, 1}, {256, 3}}) {
      Engine engine(model, policy, cache,
                    {.sequences = sequences, .threads = 2, .chunk = chunk, .log_evictions = true});
      test::Listener listener;
      for (int i = 1; i < sequences; ++i) engine.submit(test::tiny_text(20 + 50 * i, 30 + i), test::options(60, i, i));
      const auto session = engine.submit(test::tiny_text(110, 5), test::options(60));
      test::run_all(engine, listener);
      ASSERT_EQ(session->generated_tokens(), 60);
      EXPECT_EQ(session->counters().evictions, 1 + (169 - 55) / 7);
      if (want.empty()) {
        want = test::tokens_of(*session);
        want_kept = test::kept_of(*session);
        EXPECT_EQ(want_kept.size(), static_cast<size_t>(session->counters().evictions) * 2 * 3);
      }
      EXPECT_EQ(test::tokens_of(*session), want) << "chunk " << chunk;
      EXPECT_EQ(test::kept_of(*session), want_kept) << "chunk " << chunk;
    }
    Engine engine(model, policy, cache, {.threads = 2, .logit_rows = 50, .log_evictions = true});
    int rows = 0;
    const auto count = [&](int64_t position, auto) { EXPECT_EQ(position, rows++); };
    const Forced forced = engine.force(test::tiny_text(150), 20, test::options(1), count);
    EXPECT_EQ(rows, 150);
    EXPECT_EQ(forced.counters.evictions, 1 + (150 - 55) / 7);
    EXPECT_EQ(forced.evictions.size(), static_cast<size_t>(forced.counters.evictions) * 2 * 3);
  }
}

}  // namespace
}  // namespace vase
